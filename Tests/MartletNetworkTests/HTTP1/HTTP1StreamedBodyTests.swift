import MartletHTTP
import Testing

@testable import MartletNetwork

/// Bodies over HTTP/1.1 that are read and written piece by piece, in memory.
struct HTTP1StreamedBodyTests {
    let connection = FakeConnection()
    let dispatch = MemoryDispatch()
    let server: HTTP1Server

    init() {
        dispatch.streams = true
        dispatch.limit = 1 << 20
        server = HTTP1Server(
            connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
            limits: ServerLimits())
    }

    private func begin(_ fields: String) throws -> BodyDrain {
        server.receive("PUT /b HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n")
        return BodyDrain(try #require(dispatch.running.last?.body))
    }

    @Test(arguments: ["Content-Length: 11", "Transfer-Encoding: chunked"])
    func aStreamedBodyIsTheSameHoweverItsBytesArrive(_ framing: String) throws {
        let body = framing.hasSuffix("chunked") ? "5\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n" : "hello world"
        let text = "PUT /b HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n\(body)GET /next HTTP/1.1\r\nHost: h\r\n\r\n"
        for way in text.pieces {
            let dispatch = MemoryDispatch()
            dispatch.streams = true
            let connection = FakeConnection()
            let server = HTTP1Server(
                connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
                limits: ServerLimits())
            for piece in way { server.receive(piece) }
            let run = try #require(dispatch.running.first)
            let drain = BodyDrain(try #require(run.body))
            drain.readOn()
            #expect(drain.text == "hello world")
            #expect(drain.isAtEnd)
            run.stream.send(HTTPResponse(.created))
            #expect(server.writtenText().hasPrefix("HTTP/1.1 201"))
            #expect(dispatch.running.map(\.request.target) == ["/b", "/next"])
        }
    }

    @Test func thePeerIsReadOnlyAsFastAsTheHandlerReads() throws {
        let drain = try begin("Content-Length: 200000")
        #expect(!server.wantsInput)
        drain.read()
        #expect(server.wantsInput)
        server.receive(String(repeating: "a", count: 10))
        server.receive(String(repeating: "a", count: 70_000))
        #expect(!server.wantsInput)
        drain.readOn()
        #expect(drain.bytes.count == 70_010)
        #expect(server.wantsInput)
        #expect(drain.isWaiting)
    }

    /// Trap 5.
    @Test func aClientThatExpectsContinueGetsItOnceTheBodyIsRead() throws {
        let drain = try begin("Content-Length: 2\r\nExpect: 100-continue")
        #expect(server.writtenText().isEmpty)
        drain.read()
        #expect(server.writtenText() == "HTTP/1.1 100 Continue\r\n\r\n")
        server.receive("hi")
        drain.readOn()
        #expect(drain.text == "hi")
        dispatch.running[0].stream.send(HTTPResponse(.created))
        #expect(server.writtenText().hasPrefix("HTTP/1.1 201"))
        #expect(!server.isFinished)
    }

    @Test func anAnswerThatDoesNotWaitForTheBodyEndsTheConnection() throws {
        let drain = try begin("Content-Length: 2\r\nExpect: 100-continue")
        dispatch.running[0].stream.send(HTTPResponse(.forbidden))
        let answer = server.writtenText()
        #expect(answer.hasPrefix("HTTP/1.1 403"))
        #expect(answer.contains("connection: close"))
        #expect(server.isFinished)
        drain.read()
        #expect(drain.error == .disconnected)
    }

    @Test func aBodyBeyondTheLimitFailsForTheHandlerWhichAnswers() throws {
        dispatch.limit = 4
        let drain = try begin("Transfer-Encoding: chunked")
        server.receive("5\r\nhello\r\n0\r\n\r\n")
        drain.readOn()
        #expect(drain.error == .tooLarge)
        #expect(!server.wantsInput)
        dispatch.running[0].stream.send(HTTPResponse(.contentTooLarge))
        #expect(server.writtenText().hasPrefix("HTTP/1.1 413"))
        #expect(server.isFinished)
    }

    @Test func aLengthBeyondTheLimitIsRefusedBeforeTheHandlerHearsOfIt() {
        server.receive("PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n")
        #expect(dispatch.running.isEmpty)
        #expect(server.writtenText().hasPrefix("HTTP/1.1 413"))
    }

    @Test func brokenFramingFailsForTheHandler() throws {
        let drain = try begin("Transfer-Encoding: chunked")
        server.receive("zz\r\nhello")
        server.receive("more")
        drain.readOn()
        #expect(drain.error == .malformed)
        dispatch.running[0].stream.send(HTTPResponse(.badRequest))
        #expect(server.writtenText().hasPrefix("HTTP/1.1 400"))
        #expect(server.isFinished)
    }

    @Test func aPeerThatKeepsTheHandlerWaitingIsNotWaitedForLonger() throws {
        let drain = try begin("Content-Length: 100")
        #expect(server.deadline == nil)
        drain.read()
        #expect(server.deadline == connection.now + .seconds(30))
        connection.now += .seconds(29)
        server.receive("a")
        drain.readOn()
        #expect(server.deadline == connection.now + .seconds(1))
        connection.now += .seconds(1)
        server.expire(at: connection.now)
        #expect(drain.error == .stalled)
        dispatch.running[0].stream.send(HTTPResponse(.requestTimeout))
        #expect(server.writtenText().hasPrefix("HTTP/1.1 408"))
    }

    @Test func aPeerThatSendsEnoughMayTakeAsLongAsItNeeds() throws {
        let drain = try begin("Content-Length: 1000000")
        for _ in 0..<10 {
            drain.readOn()
            connection.now += .seconds(20)
            server.receive(String(repeating: "a", count: 20_000))
        }
        drain.readOn()
        #expect(drain.bytes.count == 200_000)
        #expect(server.deadline == connection.now + .seconds(30))
    }

    @Test func aPeerThatGoesInTheMiddleFailsTheBodyAndCancelsTheHandler() throws {
        let drain = try begin("Content-Length: 10")
        drain.read()
        server.inputEnded()
        #expect(drain.error == .disconnected)
        #expect(dispatch.running[0].isCancelled)
        #expect(server.isFinished)
    }

    @Test func aStreamedAnswerOfKnownLengthSaysIt() throws {
        server.receive("GET /f HTTP/1.1\r\nHost: h\r\n\r\n")
        let stream = dispatch.running[0].stream
        stream.sendHead(HTTPResponse(.ok, body: .stream(length: 5) { _ in }))
        _ = stream.sendBody(Array("he".utf8))
        _ = stream.sendBody(Array("llo".utf8))
        stream.finish()
        let answer = server.writtenText()
        #expect(answer.contains("content-length: 5\r\n"))
        #expect(!answer.contains("chunked"))
        #expect(answer.hasSuffix("\r\n\r\nhello"))
        #expect(!server.isFinished)
    }

    @Test func theAnswerToAHeadOfAFileHasItsLengthAndNoBody() throws {
        server.receive("HEAD /f HTTP/1.1\r\nHost: h\r\n\r\n")
        let stream = dispatch.running[0].stream
        stream.sendHead(HTTPResponse(.ok, body: .stream(length: 5) { _ in }))
        stream.finish()
        #expect(server.writtenText().hasSuffix("content-length: 5\r\n\r\n"))
        #expect(!server.isFinished)
    }
}
