import MartletHTTP
import Testing

@testable import MartletNetwork

/// The server side of HTTP/1.1 in memory.
struct HTTP1ServerTests {
    let connection = FakeConnection()
    let dispatch = MemoryDispatch()

    private func makeServer(_ limits: ServerLimits = ServerLimits()) -> HTTP1Server {
        HTTP1Server(
            connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch, limits: limits)
    }

    private func answerAll() {
        dispatch.answer = { request in
            HTTPResponse(.ok, body: .bytes(Array("\(request.method.rawValue) \(request.target)|".utf8) + request.body))
        }
    }

    @Test func requestsAreReadTheSameHoweverTheirBytesArrive() throws {
        let text =
            "\r\nGET /a?b=c HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Blank: \t v \t\r\n\r\n"
            + "POST /b HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello"
            + "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: dropped\r\n\r\n"
            + "DELETE http://h/d HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
            + "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        for way in text.pieces {
            let connection = FakeConnection()
            let dispatch = MemoryDispatch()
            dispatch.answer = { _ in HTTPResponse(.noContent) }
            let server = HTTP1Server(
                connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
                limits: ServerLimits())
            for piece in way { server.receive(piece) }
            let requests = dispatch.running.map(\.request)
            #expect(requests.map(\.method.rawValue) == ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
            #expect(requests.map(\.target) == ["/a?b=c", "/b", "/c", "/d", "*"])
            #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "hello", "abcde", "", ""])
            #expect(requests.first?.fields["x-blank"] == "v")
            #expect(requests.first?.fields["x-empty"] == "")
            #expect(requests.allSatisfy { $0.authority == "h" })
            #expect(server.writtenText().components("HTTP/1.1 204 No Content") == 5)
            #expect(server.isFinished)
        }
    }

    static let refused: [(String, Int)] = [
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h, i\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: user@h\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n: v\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7F}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: h\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: a\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET /\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET /#x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 400),
        ("FOO / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("GET / HTTP/1.2\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505),
        ("GET / RTSP/1.0\r\nHost: h\r\n\r\n", 505),
        ("GET /\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\rXhello\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT : v\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: v\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: v\r\n w\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1025\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1025\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: h\r\nExpect: a-pony\r\nContent-Length: 5\r\n\r\n", 417),
        ("GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\nHost: h\r\n\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 40_000) + "\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: a\r\n", count: 101) + "\r\n", 431),
        (String(repeating: "\r\n", count: 5000), 414),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n401\r\n"
                + String(repeating: "a", count: 1025) + "\r\n", 413
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;"
                + String(repeating: "a", count: 5000) + "\r\nhello\r\n0\r\n\r\n", 400
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "0", count: 5000)
                + "5\r\nhello\r\n0\r\n\r\n", 400
        ),
    ]

    @Test(arguments: refused.indices)
    func malformedHTTPIsRefusedAndTheConnectionClosed(_ index: Int) {
        let (text, status) = Self.refused[index]
        for way in text.pieces {
            let dispatch = MemoryDispatch()
            let connection = FakeConnection()
            let server = HTTP1Server(
                connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
                limits: ServerLimits())
            for piece in way { server.receive(piece) }
            // What follows a refused request belongs to nobody.
            server.receive("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            let written = server.writtenText()
            #expect(written.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(80).debugDescription): \(written)")
            #expect(written.components("HTTP/1.1 ") == 1)
            #expect(written.contains("\r\nconnection: close\r\n"))
            #expect(dispatch.running.isEmpty)
            #expect(server.isFinished)
        }
    }

    @Test func aValueThatIsNotUTF8IsRefused() {
        let server = makeServer()
        var bytes = Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8)
        bytes += [0xFF, 0xFE] + Array("\r\n\r\n".utf8)
        bytes.withUnsafeBytes { server.receive($0) }
        #expect(server.writtenText().hasPrefix("HTTP/1.1 400 "))
        #expect(dispatch.running.isEmpty)
    }

    @Test func pipelinedRequestsAreAnsweredOneAfterTheOtherInOrder() throws {
        let server = makeServer()
        server.receive("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHo")
        #expect(dispatch.running.map(\.request.target) == ["/1"])
        dispatch.running[0].stream.send(HTTPResponse(.ok, body: .bytes([0x31])))
        #expect(dispatch.running.map(\.request.target) == ["/1", "/2"])
        server.receive("st: h\r\n\r\n")
        dispatch.running[1].stream.send(HTTPResponse(.ok, body: .bytes([0x32])))
        dispatch.running[2].stream.send(HTTPResponse(.ok, body: .bytes([0x33])))
        let bodies = server.writtenText().split(separator: "\r\n\r\n", omittingEmptySubsequences: false).map(\.first)
        #expect(bodies == ["H", "1", "2", "3"])
        #expect(!server.isFinished)
    }

    @Test func aPeerThatPipelinesWithoutEndIsSlowedDown() {
        let server = makeServer()
        server.receive("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(server.wantsInput)
        server.receive(String(repeating: "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n", count: 4000))
        #expect(!server.wantsInput)
    }

    @Test("Trap 5: 100 Continue is sent only where a body is wanted")
    func a100ContinueIsSentOnlyWhereABodyIsWanted() {
        let server = makeServer()
        answerAll()
        server.receive("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(server.writtenText() == "HTTP/1.1 100 Continue\r\n\r\n")
        server.receive("hi")
        #expect(server.writtenText().hasPrefix("HTTP/1.1 200 OK\r\n"))
        server.receive("GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n")
        #expect(server.writtenText().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func anAnswerToHEADHasTheLengthAndNoBody() {
        let server = makeServer()
        answerAll()
        server.receive("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
        let written = server.writtenText()
        #expect(written.contains("\r\ncontent-length: 8\r\n"))
        #expect(written.hasSuffix("\r\n\r\n"))
    }

    @Test func anOlderClientIsAnsweredAndClosedUnlessItAsksToStay() {
        answerAll()
        let closing = makeServer()
        closing.receive("GET / HTTP/1.0\r\n\r\n")
        #expect(closing.writtenText().contains("connection: close"))
        #expect(closing.isFinished)
        let staying = makeServer()
        staying.receive("GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n")
        #expect(staying.writtenText().contains("connection: keep-alive"))
        #expect(!staying.isFinished)
    }

    @Test func aHandlerCannotSplitAResponse() {
        let server = makeServer()
        for fields: HTTPFields in [["x": "a\r\nSet-Cookie: b"], ["x\r\ny": "a"], ["x": "a\u{0}"], ["": "a"]] {
            dispatch.answer = { _ in HTTPResponse(.ok, fields: fields, body: .bytes([0x61])) }
            server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let written = server.writtenText()
            #expect(written.hasPrefix("HTTP/1.1 500 "))
            #expect(!written.contains("Cookie"))
        }
    }

    @Test func framingIsNotLeftToTheHandler() {
        let server = makeServer()
        dispatch.answer = { _ in
            HTTPResponse(
                .ok, fields: ["content-length": "99", "transfer-encoding": "chunked", "connection": "x"],
                body: .bytes([0x61]))
        }
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let written = server.writtenText()
        #expect(written.components("content-length: ") == 1)
        #expect(written.contains("content-length: 1\r\n"))
        #expect(!written.contains("transfer-encoding"))
    }

    // MARK: streams

    @Test func aPeerThatAsksOnAndOnWithoutReadingIsMadeToWait() {
        var limits = ServerLimits()
        limits.streamBufferBytes = 1_000
        dispatch.answer = { _ in HTTPResponse(.ok, body: .bytes(Array(repeating: 0x61, count: 600))) }
        let server = makeServer(limits)
        for _ in 0..<100 { server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        #expect(dispatch.running.count == 2)
        #expect(!server.wantsInput)
        #expect(server.writtenText().components("HTTP/1.1 200 OK") == 100)
        #expect(dispatch.running.count == 100)
        #expect(server.wantsInput)
    }

    @Test func aStreamIsChunkedAndWaitsForRoom() {
        var limits = ServerLimits()
        limits.streamBufferBytes = 100
        let server = makeServer(limits)
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let run = dispatch.running[0]
        run.stream.sendHead(HTTPResponse(.ok, fields: ["content-type": "text/event-stream"]))
        let head = server.writtenText()
        #expect(head.contains("transfer-encoding: chunked"))
        #expect(run.stream.sendBody(Array("hello".utf8)))
        #expect(!run.stream.sendBody(Array(repeating: 0x61, count: 100)))
        #expect(run.rooms == 0)
        #expect(server.writtenText() == "5\r\nhello\r\n64\r\n" + String(repeating: "a", count: 100) + "\r\n")
        #expect(run.rooms == 1)
        run.stream.finish()
        #expect(server.writtenText() == "0\r\n\r\n")
        #expect(!server.isFinished)
    }

    @Test func aStreamThatIsCutEndsTheConnectionWithoutTheLastChunk() {
        let server = makeServer()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        dispatch.running[0].stream.sendHead(HTTPResponse(.ok))
        _ = dispatch.running[0].stream.sendBody([0x61])
        dispatch.running[0].stream.cut()
        #expect(server.writtenText().hasSuffix("\r\n1\r\na\r\n"))
        #expect(server.isFinished)
    }

    @Test func aStreamToAnOlderClientEndsWithTheConnection() {
        let server = makeServer()
        server.receive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        dispatch.running[0].stream.sendHead(HTTPResponse(.ok))
        _ = dispatch.running[0].stream.sendBody([0x61])
        dispatch.running[0].stream.finish()
        #expect(server.writtenText().hasSuffix("connection: close\r\n\r\na"))
        #expect(server.isFinished)
    }

    @Test func aPeerThatGoesCancelsItsRequestAndHearsNothingMore() {
        let server = makeServer()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        server.ended()
        #expect(dispatch.running[0].isCancelled)
        dispatch.running[0].stream.send(HTTPResponse(.ok))
        #expect(server.writtenText().isEmpty)
    }

    @Test func aPeerThatOnlyEndsItsInputIsStillAnswered() {
        let server = makeServer()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        server.inputEnded()
        #expect(!dispatch.running[0].isCancelled)
        dispatch.running[0].stream.send(HTTPResponse(.ok))
        #expect(server.writtenText().contains("connection: close"))
        #expect(server.isFinished)
    }

    // MARK: time

    @Test func aSlowDripCannotStretchTheTimeForTheHead() throws {
        let server = makeServer()
        answerAll()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = server.writtenText()
        connection.now += .seconds(50)
        server.receive("G")
        let due = try #require(server.deadline)
        #expect(due == connection.now + .seconds(10))
        for byte in ["E", "T", " ", "/"] {
            connection.now += .seconds(2)
            server.receive(byte)
            server.expire(at: connection.now)
            #expect(server.deadline == due)
        }
        connection.now += .seconds(3)
        server.expire(at: connection.now)
        #expect(server.writtenText().hasPrefix("HTTP/1.1 408 "))
        #expect(server.isFinished)
    }

    @Test func aSlowDripCannotStretchTheTimeForTheBody() throws {
        let server = makeServer()
        server.receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n")
        let due = try #require(server.deadline)
        #expect(due == connection.now + .seconds(60))
        for _ in 0..<5 {
            connection.now += .seconds(10)
            server.receive("a")
            #expect(server.deadline == due)
        }
        connection.now += .seconds(11)
        server.expire(at: connection.now)
        #expect(server.writtenText().hasPrefix("HTTP/1.1 408 "))
        #expect(server.isFinished)
        #expect(dispatch.running.isEmpty)
    }

    @Test func anIdleConnectionIsClosedWithoutAWord() throws {
        let fresh = makeServer()
        connection.now += .seconds(10)
        fresh.expire(at: connection.now)
        #expect(fresh.isFinished && fresh.writtenText().isEmpty)
        let used = makeServer()
        answerAll()
        used.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = used.writtenText()
        connection.now += .seconds(74)
        used.expire(at: connection.now)
        #expect(!used.isFinished)
        connection.now += .seconds(1)
        used.expire(at: connection.now)
        #expect(used.isFinished && used.writtenText().isEmpty)
    }

    @Test func emptyLinesDoNotKeepAConnectionOpen() throws {
        let server = makeServer()
        answerAll()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = server.writtenText()
        server.receive("\r\n")
        let due = try #require(server.deadline)
        connection.now += .seconds(9)
        server.receive("\r\n")
        #expect(server.deadline == due)
        connection.now += .seconds(2)
        server.expire(at: connection.now)
        #expect(server.isFinished && server.writtenText().isEmpty)
    }

    @Test func noTimeRunsWhileTheHandlerAnswers() {
        let server = makeServer()
        server.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(server.deadline == nil)
    }

    // MARK: draining

    @Test func aDrainingServerSaysSoWithTheNextAnswerAndTakesNothingMore() {
        let server = makeServer()
        server.receive("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
        server.drain()
        #expect(!server.isFinished)
        dispatch.running[0].stream.send(HTTPResponse(.ok))
        #expect(server.writtenText().contains("connection: close"))
        #expect(dispatch.running.count == 1)
        #expect(server.isFinished)
    }

    @Test func aDrainingServerClosesAnIdleConnectionAtOnce() {
        let server = makeServer()
        server.drain()
        #expect(server.isFinished)
    }
}
