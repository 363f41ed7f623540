import MartletHTTP
import Testing

@testable import MartletNetwork

/// Bodies over HTTP/1.1 that must have room before they are read.
struct HTTP1BodyRoomTests {
    private let ledger: BodyLedger
    private let connection = FakeConnection()
    private let dispatch = MemoryDispatch()
    private let server: HTTP1Server
    private static let caller = HTTPBodyAccount.caller("a", scope: "h")

    init() {
        var limits = ServerLimits()
        (limits.bodies.total, limits.bodies.caller) = (100_000, 100_000)
        ledger = BodyLedger(limits: limits.bodies)
        dispatch.limit = 1 << 20
        dispatch.account = Self.caller
        let bodies = ConnectionBodies(ledger: ledger, connection: 1, network: .ipv4(1))
        server = HTTP1Server(
            connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch, limits: limits,
            bodies: bodies)
    }

    private func begin(_ length: Int, rest: String = "") {
        server.receive("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n\(rest)")
    }

    /// Somebody else uses the caller's share.
    private func occupy() -> BodyLease {
        let lease = ConnectionBodies(ledger: ledger, connection: 2, network: .ipv4(2)).lease(Self.caller, headBytes: 0)
        #expect(lease.cover(99_000, at: connection.now))
        return lease
    }

    private func pass(_ time: Duration) {
        connection.now += time
        server.expire(at: connection.now)
    }

    @Test func aBodyWithoutRoomIsNotReadUntilThereIsSome() {
        do {
            let other = occupy()
            begin(5000, rest: "hello")
            #expect(!server.wantsInput)
            pass(.seconds(1))
            #expect(!server.wantsInput)
            #expect(dispatch.running.isEmpty)
            withExtendedLifetime(other) {}
        }
        #expect(server.deadline == connection.now + .milliseconds(50))
        pass(.milliseconds(50))
        #expect(server.wantsInput)
        server.receive(String(repeating: "b", count: 4995))
        #expect(dispatch.running.first?.request.body.count == 5000)
    }

    @Test func aBodyThatWaitsInVainIsA503ThatSaysWhenToTryAgain() {
        let other = occupy()
        begin(5000)
        pass(.seconds(4))
        #expect(server.writtenText().isEmpty)
        pass(.seconds(2))
        let answer = server.writtenText()
        #expect(answer.hasPrefix("HTTP/1.1 503"))
        #expect(answer.contains("retry-after: 5\r\n"))
        #expect(ledger.refusalCount == 1)
        server.ended()
        #expect(ledger.used == 99_000)
        withExtendedLifetime(other) {}
    }

    @Test func bytesOfACallerWhoBecomesAnotherWithoutRoomStillCount() {
        var limits = BodyLimits()
        (limits.total, limits.caller, limits.free) = (300_000, 100_000, 0)
        let ledger = BodyLedger(limits: limits)
        let bodies = ConnectionBodies(ledger: ledger, connection: 1, network: .ipv4(1))
        let other = HTTPBodyAccount.caller("b", scope: "h")
        let occupying = ConnectionBodies(ledger: ledger, connection: 2, network: .ipv4(2)).lease(other, headBytes: 0)
        #expect(occupying.cover(99_000, at: connection.now))
        do {
            let lease = bodies.lease(Self.caller, headBytes: 100)
            #expect(lease.cover(50_000, at: connection.now))
            #expect(ledger.used == 149_100)
            lease.charge(to: other, holding: 20_000)
            #expect(ledger.used == 99_000 + 20_100, "what is in memory is charged to the network")
            #expect(!lease.cover(50_000, at: connection.now))
            withExtendedLifetime(lease) {}
        }
        #expect(ledger.used == 99_000)
        withExtendedLifetime(occupying) {}
    }

    @Test func anAnnouncedLengthIsReservedAndGivenBackWithTheRequest() {
        begin(50_000)
        #expect(ledger.used > 50_000)
        server.ended()
        #expect(ledger.isEmpty)
    }

    @Test func theBodyOfAnUnknownSenderIsReservedAsItArrives() {
        dispatch.account = .address
        begin(50_000)
        #expect(ledger.used < 1000)
        server.receive(String(repeating: "a", count: 20_000))
        #expect(ledger.used >= 20_000 - 4096 && ledger.used < 30_000)
        server.receive(String(repeating: "a", count: 30_000))
        #expect(dispatch.running.first?.request.body.count == 50_000)
    }

    @Test(arguments: [9999, 10_000, 10_001])
    func aBodyInChunksUpToTheLimitIsReadWhereverItIsSplit(length: Int) throws {
        for split in [1, 5, 12, 14, 16] {
            let (connection, dispatch) = (FakeConnection(), MemoryDispatch())
            dispatch.streams = true
            dispatch.limit = 10_000
            dispatch.account = Self.caller
            let server = HTTP1Server(
                connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
                limits: ServerLimits())
            server.receive("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            var result: Result<[UInt8]?, HTTPBodyError>?
            try #require(dispatch.running.first?.body).collect(upTo: 10_000) { result = $0 }
            let hexadecimal = String(length, radix: 16)
            let text = Array("\(hexadecimal)\r\n\(String(repeating: "a", count: length))\r\n0\r\n\r\n".utf8)
            for part in [text.dropLast(split), text.suffix(split)] where server.wantsInput {
                server.receive(String(decoding: part, as: UTF8.self))
            }
            switch result {
            case .success(let bytes): #expect(bytes?.count == length && length <= 10_000, "split \(split)")
            case .failure(let error): #expect(error == .tooLarge && length > 10_000, "split \(split)")
            case nil: Issue.record("\(length) bytes, split \(split): the handler waits")
            }
        }
    }

    @Test func aBodyThatIsKeptInMemoryMustNotTrickle() throws {
        dispatch.streams = true
        begin(90_000)
        var result: Result<[UInt8]?, HTTPBodyError>?
        try #require(dispatch.running.first?.body).collect(upTo: 100_000) { result = $0 }
        for _ in 0..<3 where result == nil {
            pass(.seconds(15))
            server.receive(String(repeating: "a", count: 17_000))
        }
        #expect(throws: HTTPBodyError.stalled) { try #require(result).get() }
    }

    @Test func aBodyOfUnknownLengthReservesAsItGrows() {
        server.receive("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let before = ledger.used
        server.receive("2710\r\n" + String(repeating: "a", count: 10_000) + "\r\n")
        #expect(ledger.used >= before + 10_000)
        for _ in 0..<9 { server.receive("2710\r\n" + String(repeating: "a", count: 10_000) + "\r\n") }
        #expect(!server.wantsInput)
        pass(.seconds(6))
        #expect(server.writtenText().hasPrefix("HTTP/1.1 503"))
        #expect(ledger.isEmpty)
    }

    @Test func nothingIsReadOfAStreamedBodyBeforeItsHandlerAsks() throws {
        dispatch.streams = true
        dispatch.account = .address
        begin(90_000, rest: "hello")
        #expect(!server.wantsInput)
        let body = try #require(dispatch.running.first?.body)
        body.charge(to: Self.caller)
        var collected: [UInt8]?
        body.collect(upTo: 100_000) { if case .success(let bytes) = $0 { collected = bytes } }
        #expect(server.wantsInput)
        #expect(ledger.used > 90_000)
        server.receive(String(repeating: "b", count: 89_995))
        #expect(collected?.count == 90_000)
    }

    @Test func aStreamedBodyWithoutRoomFailsForItsHandler() throws {
        let other = occupy()
        dispatch.streams = true
        begin(90_000)
        let drain = BodyDrain(try #require(dispatch.running.first?.body))
        drain.read()
        #expect(!server.wantsInput)
        pass(.seconds(6))
        #expect(drain.error == .overloaded)
        withExtendedLifetime(other) {}
    }

    @Test func aLongHeadNeedsRoomToo() {
        let other = occupy()
        let field = String(repeating: "a", count: 5000)
        server.receive("GET /a HTTP/1.1\r\nHost: h\r\nX: \(field)\r\n\r\n")
        #expect(dispatch.running.count == 1)
        withExtendedLifetime(other) {}
        #expect(ledger.used > 99_900)
    }

    @Test func aHeadThatComesSlowlyKeepsItsRoom() {
        server.receive("GET /a HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 10_000))
        _ = server.writtenText()
        #expect(ledger.used > 5000)
        server.ended()
        #expect(ledger.isEmpty)
    }

    @Test func aConnectionWhoseAnswerIsNotWrittenIsNotIdle() throws {
        server.receive("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(server.idleSince == nil)
        try #require(dispatch.running.first).stream.send(HTTPResponse(.ok))
        #expect(server.idleSince == nil)
        _ = server.writtenText()
        #expect(server.idleSince != nil)
    }

    @Test func aHeadThatComesSlowlyNeedsRoom() {
        server.receive("GET /a HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 10_000))
        #expect(ledger.used > 5000)
        server.receive("\r\n\r\n")
        #expect(dispatch.running.count == 1)
        server.ended()
    }

    @Test func requestsThatComeTooEarlyNeedRoomLikeABody() {
        server.receive("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        server.receive(String(repeating: "GET /b HTTP/1.1\r\nHost: h\r\n\r\n", count: 1000))
        #expect(!server.wantsInput)
        #expect(ledger.used > 20_000)
        server.ended()
    }

    /// Strangers elsewhere take all that strangers may have.
    private func crowd() -> BodyLease {
        let lease = ConnectionBodies(ledger: ledger, connection: 3, network: .local).lease(.address, headBytes: 0)
        #expect(lease.cover(ledger.limits.strangers, at: connection.now))
        return lease
    }

    @Test func bytesWithTheHeadOfAKnownCallerWaitWhileUnknownSendersFillTheirShare() throws {
        let strangers = crowd()
        dispatch.streams = true
        dispatch.account = .address
        begin(20_000, rest: String(repeating: "a", count: 15_000))
        #expect(!server.wantsInput)
        pass(.seconds(4))
        let body = try #require(dispatch.running.first?.body)
        #expect(!body.isOver)
        body.charge(to: Self.caller)
        var collected: Result<[UInt8]?, HTTPBodyError>?
        body.collect(upTo: 100_000) { collected = $0 }
        #expect(server.wantsInput)
        server.receive(String(repeating: "b", count: 5000))
        #expect(try collected?.get()?.count == 20_000)
        #expect(ledger.refusalCount == 0)
        withExtendedLifetime(strangers) {}
    }

    @Test func bytesWithTheHeadOfAnUnknownSenderAreNotRead() throws {
        let strangers = crowd()
        dispatch.streams = true
        dispatch.account = .address
        begin(20_000, rest: String(repeating: "a", count: 15_000))
        pass(.seconds(6))
        let drain = BodyDrain(try #require(dispatch.running.first?.body))
        drain.read()
        #expect(drain.error == .overloaded)
        #expect(ledger.refusalCount == 1)
        withExtendedLifetime(strangers) {}
    }

    @Test func littleIsReadAtOnceWhileStrangersHaveMuch() {
        #expect(server.inputLimit == .max)
        do {
            let strangers = crowd()
            #expect(server.inputLimit == 4096)
            withExtendedLifetime(strangers) {}
        }
        #expect(server.inputLimit == .max)
    }
}
