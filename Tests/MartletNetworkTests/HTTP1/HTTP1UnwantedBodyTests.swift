import MartletHTTP
import Testing

@testable import MartletNetwork

/// Requests over HTTP/1.1 that are answered on their head.
struct HTTP1UnwantedBodyTests {
    private let connection = FakeConnection()
    private let dispatch = MemoryDispatch()
    private let server: HTTP1Server

    init() {
        dispatch.ignores = true
        server = HTTP1Server(
            connection, info: HTTPConnection(id: 1, peer: "", isSecure: false), dispatch: dispatch,
            limits: ServerLimits())
    }

    private func begin(_ field: String, rest: String = "") {
        server.receive("POST /a HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n\(rest)")
    }

    private func refuse() throws -> String {
        try #require(dispatch.running.last).stream.send(HTTPResponse(.unauthorized))
        return server.writtenText()
    }

    @Test func theAnswerComesBeforeTheBodyWhichIsDroppedToKeepTheConnection() throws {
        begin("Content-Length: 5")
        let answer = try refuse()
        #expect(answer.hasPrefix("HTTP/1.1 401"))
        #expect(!answer.contains("close"))
        server.receive("hel")
        server.receive("loGET /b HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(dispatch.running.map(\.request.target) == ["/a", "/b"])
        #expect(dispatch.running.allSatisfy { $0.request.body.isEmpty })
    }

    @Test func aBodyThatIsThereAlreadyIsDroppedBeforeTheAnswer() throws {
        begin("Content-Length: 5", rest: "helloGET /b HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try refuse().hasPrefix("HTTP/1.1 401"))
        #expect(dispatch.running.map(\.request.target) == ["/a", "/b"])
    }

    @Test(
        arguments: [
            "Content-Length: 2097151", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue",
        ])
    func aBodyThatIsLongOrMayNotComeEndsTheConnectionAndIsNotRead(field: String) throws {
        begin(field)
        #expect(!server.wantsInput)
        let answer = try refuse()
        #expect(answer.hasPrefix("HTTP/1.1 401"))
        #expect(answer.contains("connection: close"))
        #expect(!answer.contains("100 Continue"))
        #expect(server.isFinished)
    }

    @Test func aBodyThatDoesNotComeIsWaitedForOnlySoLong() throws {
        begin("Content-Length: 5")
        _ = try refuse()
        #expect(server.deadline == connection.now + .seconds(30))
        connection.now += .seconds(30)
        server.expire(at: connection.now)
        #expect(server.isFinished)
    }

    @Test func twoAuthorizationFieldsAreRefused() {
        begin("Authorization: a\r\nAuthorization: b")
        #expect(dispatch.running.isEmpty)
        #expect(server.writtenText().hasPrefix("HTTP/1.1 400"))
    }
}
