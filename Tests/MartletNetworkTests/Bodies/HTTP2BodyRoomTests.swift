import MartletHTTP
import Testing

@testable import MartletNetwork

/// Bodies over HTTP/2 that must have room before their windows open.
struct HTTP2BodyRoomTests {
    private static let caller = HTTPBodyAccount.caller("a", scope: "h")
    private static let data = HTTP2FrameHeader.Kind.data
    private let ledger: BodyLedger
    private let peer: RawHTTP2Peer

    init() {
        var limits = ServerLimits()
        (limits.bodies.total, limits.bodies.caller, limits.bodies.network) = (200_000, 200_000, 60_000)
        let dispatch = FakeDispatch { _, _ in }
        dispatch.bodyLimit = 1 << 20
        dispatch.account = Self.caller
        ledger = BodyLedger(limits: limits.bodies)
        peer = RawHTTP2Peer(
            limits: limits, dispatch: dispatch,
            bodies: ConnectionBodies(ledger: ledger, connection: 1, network: .ipv4(1)))
    }

    private func begin(_ length: Int?, stream: Int32 = 1) {
        peer.sendHeaders(length.map { [("content-length", String($0))] } ?? [], stream: stream, flags: 0x4)
    }

    private func send(_ count: Int, stream: Int32 = 1, isLast: Bool = false) {
        peer.send(
            Self.data, flags: isLast ? HTTP2FrameHeader.Flag.endStream : 0, stream: stream,
            payload: [UInt8](repeating: 7, count: count))
    }

    private func occupy(_ count: Int) -> BodyLease {
        let lease = ConnectionBodies(ledger: ledger, connection: 2, network: .ipv4(2)).lease(Self.caller, headBytes: 0)
        #expect(lease.cover(count, at: peer.connection.now))
        return lease
    }

    private func opened(_ stream: Int32) -> Int {
        peer.frames().filter { $0.head.kind == HTTP2FrameHeader.Kind.windowUpdate && $0.head.stream == stream }
            .reduce(0) { sum, frame in sum + frame.payload.reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test func theWindowOpensOnlyByWhatHasRoom() {
        let other = occupy(150_000)
        begin(100_000)
        for _ in 0..<3 { send(16_000) }
        #expect(opened(1) == 0)
        #expect(peer.server.deadline == peer.connection.now + .milliseconds(50))
        withExtendedLifetime(other) {}
    }

    @Test func theWindowOpensOnceThereIsRoom() {
        do {
            let other = occupy(150_000)
            begin(100_000)
            for _ in 0..<3 { send(16_000) }
            withExtendedLifetime(other) {}
        }
        peer.pass(.milliseconds(50))
        #expect(opened(1) == 48_000)
        for _ in 0..<3 { send(16_000) }
        send(4000, isLast: true)
        #expect(peer.dispatch.requests.first?.body.count == 100_000)
    }

    @Test func aRequestThatGetsNoMemoryIsA503() {
        let other = occupy(150_000)
        begin(100_000)
        send(16_000)
        peer.pass(.seconds(6))
        let frames = peer.frames()
        #expect(frames.contains { $0.head.kind == HTTP2FrameHeader.Kind.headers })
        #expect(frames.contains { $0.head.kind == HTTP2FrameHeader.Kind.reset })
        #expect(peer.server.streams.isEmpty)
        #expect(ledger.used == 150_000)
        #expect(ledger.refusalCount == 1)
        withExtendedLifetime(other) {}
    }

    @Test func aShortBodyNeedsNoRoomOfItsCallerWhereItsNetworkHasSome() {
        let other = occupy(200_000)
        begin(1000)
        send(1000, isLast: true)
        #expect(peer.dispatch.requests.first?.body.count == 1000)
        withExtendedLifetime(other) {}
    }

    @Test func unknownSendersBeyondTheShareOfTheirNetworkAreRefusedAtOnce() {
        let other = occupy(200_000)
        for stream in [Int32(1), 3] {
            begin(100_000, stream: stream)
            for _ in 0..<3 { send(15_000, stream: stream) }
        }
        #expect(ledger.used <= 260_000)
        #expect(ledger.refusalCount == 1)
        withExtendedLifetime(other) {}
    }

    @Test func aHeaderBlockThatComesSlowlyNeedsRoom() {
        let block = [UInt8](repeating: 0x40, count: 9000)
        peer.send(HTTP2FrameHeader.Kind.headers, stream: 1, payload: block)
        peer.send { output in
            HTTP2FrameWriter.header(
                HTTP2FrameHeader(length: 9000, kind: HTTP2FrameHeader.Kind.continuation, flags: 0, stream: 1),
                into: &output)
            output += block[..<5000]
        }
        #expect(ledger.used > 40_000 || peer.server.isFinished || peer.goAwayCode() != nil)
        peer.server.ended()
        #expect(ledger.isEmpty)
    }

    @Test func aPeerThatEndsInTheMiddleGivesEverythingBack() {
        begin(100_000)
        send(16_000)
        peer.server.inputEnded()
        #expect(ledger.isEmpty)
    }

    @Test func aHundredUnfinishedBodiesOfOneCallerTakeItsShareAndNoMore() {
        for number in Int32(0)..<100 {
            begin(90_000, stream: 2 * number + 1)
            send(16_000, stream: 2 * number + 1)
        }
        #expect(ledger.used <= 260_000)
        peer.server.ended()
        #expect(ledger.isEmpty)
    }

    @Test func bytesWithTheHeadOfAKnownCallerWaitWhileUnknownSendersFillTheirShare() throws {
        let strangers = ConnectionBodies(ledger: ledger, connection: 3, network: .local).lease(.address, headBytes: 0)
        #expect(strangers.cover(ledger.limits.strangers, at: peer.connection.now))
        peer.dispatch.streams = true
        peer.dispatch.account = .address
        begin(20_000)
        send(15_000)
        #expect(!peer.server.wantsInput)
        #expect(peer.server.inputLimit == 4096)
        peer.pass(.seconds(4))
        let body = try #require(peer.dispatch.bodies.first ?? nil)
        #expect(!body.isOver)
        body.charge(to: Self.caller)
        #expect(peer.server.wantsInput)
        var collected: Result<[UInt8]?, HTTPBodyError>?
        body.collect(upTo: 100_000) { collected = $0 }
        send(5000, isLast: true)
        #expect(try collected?.get()?.count == 20_000)
        #expect(ledger.refusalCount == 0)
        withExtendedLifetime(strangers) {}
    }

    @Test func aConnectionIsReadAgainOnceABodyThatNobodyIsKnownToHaveSentIsRefused() throws {
        let strangers = ConnectionBodies(ledger: ledger, connection: 3, network: .local).lease(.address, headBytes: 0)
        #expect(strangers.cover(ledger.limits.strangers, at: peer.connection.now))
        peer.dispatch.streams = true
        peer.dispatch.account = .address
        begin(20_000)
        send(15_000)
        #expect(!peer.server.wantsInput)
        peer.pass(.seconds(6))
        #expect(try #require(peer.dispatch.bodies.first ?? nil).isOver)
        #expect(ledger.refusalCount == 1)
        #expect(peer.server.wantsInput)
        withExtendedLifetime(strangers) {}
    }
}
