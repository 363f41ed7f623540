import MartletHTTP
import Testing

@testable import MartletNetwork

/// Answers that peers do not read.
struct AnswerRoomTests {
    fileprivate static let caller = HTTPBodyAccount.caller("key", scope: "hub")
    private static let share = BodyBudget.Share.caller("key", scope: "hub", at: .ipv4(1))

    private static func ledger(_ change: (inout BodyLimits) -> Void = { _ in }) -> BodyLedger {
        var limits = BodyLimits()
        limits.patience = .zero
        change(&limits)
        return BodyLedger(limits: limits)
    }

    private static func bodies(
        _ answers: BodyLedger, _ connection: UInt64 = 1, _ address: UInt32 = 1
    )
        -> ConnectionBodies
    {
        ConnectionBodies(ledger: BodyLedger(), answers: answers, connection: connection, network: .ipv4(address))
    }

    // MARK: The account

    @Test func anAnswerWithoutRoomIsNotMade() async {
        let ledger = Self.ledger { $0.caller = 100_000 }
        let first = AnswerLease(Self.bodies(ledger))
        #expect(await first.reserve(90_000, for: Self.caller))
        #expect(await !AnswerLease(Self.bodies(ledger, 2)).reserve(20_000, for: Self.caller))
        #expect(ledger.refusalCount == 1)
        first.hold(50_000)
        #expect(await AnswerLease(Self.bodies(ledger, 2)).reserve(20_000, for: Self.caller))
    }

    enum Bound: CaseIterable {
        case connection, caller, hub, process

        func set(_ limits: inout BodyLimits) {
            switch self {
            case .connection: limits.connection = 100_000
            case .caller: limits.caller = 100_000
            case .hub: limits.scope = 100_000
            case .process: limits.total = 100_000
            }
        }

        /// The caller, connection and address that share this bound alone with `AnswerRoomTests.caller`.
        var other: (account: HTTPBodyAccount, connection: UInt64, address: UInt32) {
            switch self {
            case .connection: (.caller("other", scope: "elsewhere"), 1, 1)
            case .caller: (AnswerRoomTests.caller, 2, 1)
            case .hub: (.caller("other", scope: "hub"), 2, 2)
            case .process: (.caller("other", scope: "elsewhere"), 2, 2)
            }
        }
    }

    @Test(
        "Unread answers are bounded for a connection, a caller at an address, a hub and the process",
        arguments: Bound.allCases)
    func unreadAnswersAreBounded(bound: Bound) async {
        let ledger = Self.ledger { bound.set(&$0) }
        let first = AnswerLease(Self.bodies(ledger))
        #expect(await first.reserve(90_000, for: Self.caller))
        let second = AnswerLease(Self.bodies(ledger, bound.other.connection, bound.other.address))
        #expect(await !second.reserve(20_000, for: bound.other.account))
        #expect(await second.reserve(10_000, for: bound.other.account))
        withExtendedLifetime(first) {}
    }

    @Test func theSameKeyAtAnotherAddressIsNotDelayed() async {
        let ledger = Self.ledger { $0.caller = 100_000 }
        let first = AnswerLease(Self.bodies(ledger))
        #expect(await first.reserve(100_000, for: Self.caller))
        #expect(await AnswerLease(Self.bodies(ledger, 2, 2)).reserve(100_000, for: Self.caller))
        withExtendedLifetime(first) {}
    }

    @Test func anAnswerWaitsUntilAnotherWasReadAndOnlySoManyWait() async {
        let ledger = Self.ledger { ($0.caller, $0.waiting, $0.patience) = (100_000, 1, .seconds(600)) }
        let first = AnswerLease(Self.bodies(ledger))
        #expect(await first.reserve(90_000, for: Self.caller))
        async let second = AnswerLease(Self.bodies(ledger, 2)).reserve(20_000, for: Self.caller)
        while ledger.waitingCount == 0 { await Task.yield() }
        #expect(await !AnswerLease(Self.bodies(ledger, 3)).reserve(20_000, for: Self.caller))
        first.hold(0)
        #expect(await second)
        #expect(ledger.waitingCount == 0)
    }

    @Test func anAnswerLongerThanReservedIsCountedAndDelaysTheNext() async {
        let ledger = Self.ledger { $0.caller = 100_000 }
        do {
            let first = AnswerLease(Self.bodies(ledger))
            #expect(await first.reserve(1000, for: Self.caller))
            first.hold(150_000)
            #expect(ledger.used == 150_000)
            #expect(await !AnswerLease(Self.bodies(ledger)).reserve(1, for: Self.caller))
        }
        #expect(ledger.isEmpty)
    }

    // MARK: HTTP/2

    /// A peer whose windows are closed, and its server, which answers at once with so many bytes where there is room.
    private static func peer(
        answering length: Int, isShared: Bool = false, _ answers: BodyLedger
    ) -> RawHTTP2Peer {
        let dispatch = FakeDispatch { request, stream in
            guard let room = request.answerRoom as? AnswerLease, isShared || room.take(length, of: share) else {
                return stream.send(HTTPResponse(.serviceUnavailable))
            }
            var response = HTTPResponse(.ok, body: .bytes([UInt8](repeating: 1, count: length)))
            response.isShared = isShared
            stream.send(response)
        }
        let peer = RawHTTP2Peer(dispatch: dispatch, bodies: bodies(answers))
        peer.send { HTTP2FrameWriter.settings([(4, 0)], into: &$0) }
        return peer
    }

    private static func statuses(_ peer: RawHTTP2Peer) -> Int {
        peer.frames().count {
            $0.head.kind == HTTP2FrameHeader.Kind.headers && !$0.head.has(HTTP2FrameHeader.Flag.endStream)
        }
    }

    private static func open(_ peer: RawHTTP2Peer, _ stream: Int32, by count: Int) {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        peer.send(HTTP2FrameHeader.Kind.windowUpdate, stream: stream, payload: bytes)
    }

    @Test func aHundredAnswersThatNobodyReadsTakeTheShareOfTheirCallerAndNoMore() {
        let answers = Self.ledger { $0.caller = 2_000_000 }
        let peer = Self.peer(answering: 469_000, answers)
        for number in Int32(0)..<100 { peer.sendHeaders([], stream: 2 * number + 1) }
        peer.dispatch.forgetAll()
        #expect(Self.statuses(peer) == 4)
        #expect(answers.used == 4 * 469_000)
        peer.server.ended()
        #expect(answers.isEmpty)
    }

    @Test func answersThatAreReadReleaseMemory() {
        let answers = Self.ledger()
        let peer = Self.peer(answering: 200_000, answers)
        peer.sendHeaders([], stream: 1)
        peer.dispatch.forgetAll()
        #expect(answers.used == 200_000)
        Self.open(peer, 0, by: 1 << 20)
        Self.open(peer, 1, by: 150_000)
        _ = peer.frames()
        #expect(answers.used >= 50_000 && answers.used < 150_000)
        Self.open(peer, 1, by: 50_000)
        _ = peer.frames()
        #expect(answers.isEmpty)
    }

    @Test func sharedAndShortAnswersAreNotCounted() {
        let answers = Self.ledger()
        let peers = [Self.peer(answering: 469_000, isShared: true, answers), Self.peer(answering: 1000, answers)]
        for peer in peers {
            peer.sendHeaders([], stream: 1)
            peer.dispatch.forgetAll()
            #expect(Self.statuses(peer) == 1)
            #expect(answers.used <= 1000)
        }
    }

    @Test func aConnectionThatTakesNothingOfItsAnswersEnds() {
        let peer = Self.peer(answering: 100_000, Self.ledger())
        peer.sendHeaders([], stream: 1)
        peer.pass(.seconds(20))
        peer.sendHeaders([], stream: 3)
        #expect(peer.goAwayCode() == nil)
        peer.pass(.seconds(11))
        #expect(peer.goAwayCode() == 11)
        #expect(peer.server.isFinished)
    }

    @Test func aConnectionThatTakesOneAnswerLosesTheOthersAndStays() {
        let peer = Self.peer(answering: 100_000, Self.ledger())
        for stream in [Int32(1), 3] { peer.sendHeaders([], stream: stream) }
        for _ in 0..<31 {
            Self.open(peer, 1, by: 1000)
            _ = peer.frames()
            peer.pass(.seconds(1))
        }
        #expect(peer.server.streams.keys.sorted() == [1])
        #expect(!peer.server.isFinished)
    }

    // MARK: HTTP/1.1

    @Test func aLongAnswerOverHTTP1IsCountedUntilItIsReadAndNothingIsBegunMeanwhile() throws {
        let answers = Self.ledger()
        let (connection, dispatch) = (FakeConnection(), MemoryDispatch())
        let body = [UInt8](repeating: 97, count: 300_000)
        dispatch.answer = { _ in HTTPResponse(.ok, body: .bytes(body)) }
        let server = HTTP1Server(
            connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
            limits: ServerLimits(), bodies: Self.bodies(answers))
        for _ in 0..<2 { server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        #expect(dispatch.running.count == 1)
        // The rest of the answer, and what is on its way out of it.
        #expect(answers.used >= 290_000 && answers.used < 380_000)
        var read: [UInt8] = []
        while dispatch.running.count == 1 {
            let before = read.count
            server.write(into: &read, limit: read.count + 1000)
            try #require(read.count > before)
        }
        #expect(read.count > 230_000)
        let whole = read + Array(server.writtenText().utf8)
        #expect(whole.count { $0 == 97 } >= 600_000)
        #expect(dispatch.running.count == 2)
        server.ended()
        #expect(answers.isEmpty)
    }
}
