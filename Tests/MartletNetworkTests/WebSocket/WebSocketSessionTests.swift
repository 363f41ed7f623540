import MartletHTTP
import Testing

@testable import MartletNetwork

/// From the opening handshake on: in memory, and over a real socket.
struct WebSocketSessionTests {
    private static let echo = ClosureHandler { _ in
        .webSocket(subprotocol: "echo") { socket in
            while let message = await socket.receive() {
                if message == .text("leave") { return }
                do { try await socket.send(message) } catch { return }
            }
        }
    }

    private func answer(_ request: String) -> (text: String, connection: FakeConnection) {
        let connection = FakeConnection()
        let dispatch = MemoryDispatch()
        let info = HTTPConnection(id: 1, peer: "", isSecure: false, majorVersion: 1)
        let server = HTTP1Server(connection, info: info, dispatch: dispatch, limits: ServerLimits())
        server.receive(request)
        let session = dispatch.running.first?.stream.openWebSocket(.webSocket { _ in })
        return ((session ?? server as any WireProtocol).writtenText(), connection)
    }

    /// The key and its answer are those of RFC 6455, section 1.3.
    @Test func theHandshakeIsThatOfTheDocument() {
        let (text, connection) = answer(ClientFrame.handshake)
        #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(text.contains("upgrade: websocket\r\nconnection: Upgrade\r\n"))
        #expect(text.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(connection.successor is WebSocketSession)
    }

    @Test(arguments: [
        ("GET /", "POST /"), ("Upgrade: websocket", "Upgrade: h2c"), ("keep-alive, Upgrade", "keep-alive"),
        ("Version: 13", "Version: 8"), ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ="), ("Sec-WebSocket-Key", "X-Key"),
    ])
    func aRequestThatIsNoHandshakeIsToldTheExpectedVersion(part: String, other: String) throws {
        let at = try #require(ClientFrame.handshake.components(part) == 1 ? part : nil)
        let (text, connection) = answer(ClientFrame.handshake.replacing(at, with: other))
        #expect(text.hasPrefix("HTTP/1.1 426 "))
        #expect(text.contains("sec-websocket-version: 13\r\n"))
        #expect(connection.successor == nil)
    }

    @Test func messagesGoBothWaysOverARealSocket() async throws {
        let server = HTTPServer(loops: try EventLoopGroup(count: 1), handler: Self.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let long = String(repeating: "m", count: 5000)
        // The first frame comes with the request. Masked with nothing, a frame is text.
        let frames = ["one", long, "leave"].map { text in
            ClientFrame.make(0x81, Array(text.utf8), mask: [0, 0, 0, 0])
        }
        let connection = try RawClient.Connection(address)
        connection.send(Array(ClientFrame.handshake.utf8) + frames.joined())
        let goodbye = WebSocketFrame.encodeClose(1000)
        let bytes = await connection.receiveBytes(until: goodbye)
        connection.send(ClientFrame.close(1000))
        let expected = WebSocketFrame.encode(.text("one")) + WebSocketFrame.encode(.text(long)) + goodbye
        let isEchoed = bytes.suffix(expected.count) == expected[...]
        #expect(isEchoed)
        let head = String(decoding: bytes.prefix { $0 < 0x80 }, as: UTF8.self)
        #expect(head.contains("sec-websocket-protocol: echo\r\n"))
        #expect(await connection.receiveBytes(until: []).isEmpty)
        connection.close()
        await server.shutDown()
    }

    @Test func aShutdownSaysGoodbye() async throws {
        let opened = Signal()
        let handler = ClosureHandler { _ in
            .webSocket { socket in
                opened.set()
                #expect(await socket.receive() == nil)
                await #expect(throws: CancellationError.self) { try await socket.send(.text("late")) }
            }
        }
        let server = HTTPServer(loops: try EventLoopGroup(count: 1), handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let connection = try RawClient.Connection(address)
        connection.send(ClientFrame.handshake)
        await opened.wait()
        async let stopped: Void = server.shutDown()
        let goodbye = WebSocketFrame.encodeClose(1001)
        #expect(await connection.receiveBytes(until: goodbye).suffix(goodbye.count) == goodbye[...])
        connection.send(ClientFrame.close(1001))
        await stopped
        connection.close()
    }
}
