import MartletHTTP
import MartletModel
import MartletPush
import Synchronization
import Testing

@testable import MartletSimulator

/// Real devices and their connections, without a network.
struct DeviceSocketTests {
    private let fixture = SimulatorFixture()

    private func answer(host: String = "127.0.0.1:9000", origin: String? = nil) async -> HTTPResponse {
        let handler = DeviceSocketHandler(
            platform: WebPushSimulator.platform, state: fixture.state, subprotocol: "push-notification")
        var fields: HTTPFields = ["sec-websocket-protocol": "other, push-notification"]
        fields["origin"] = origin
        return await handler.respond(to: HTTPRequest(.get, "/", authority: host, fields: fields))
    }

    @Test func aDeviceNamesTheAddressThatItConnectsTo() async {
        let response = await answer(origin: "ws://127.0.0.1:9000/")
        #expect(response.status == 101)
        #expect(response.fields["sec-websocket-protocol"] == "push-notification")
        #expect(await answer().status == 101)
    }

    @Test(arguments: ["localhost", "localhost:9000", "127.0.0.1", "[::1]", "[::1]:9000"])
    func aDeviceOfThisMachineGetsInWithAndWithoutAPort(host: String) async {
        #expect(await answer(host: host).status == 101)
        #expect(await answer(host: host, origin: "ws://\(host)/").status == 101)
    }

    @Test(arguments: ["[::2]", "[::1", "::1", "[::1]x:9000", "127.0.0.1:9000:1", "", ":9000"])
    func anotherHostDoesNotGetIn(host: String) async {
        #expect(await answer(host: host).status == .forbidden)
    }

    @Test(arguments: [
        ("127.0.0.1:9000", "http://127.0.0.1:9000"), ("127.0.0.1:9000", "https://example.com"),
        ("127.0.0.1:9000", "null"), ("rebound.example:9000", "ws://rebound.example:9000/"), ("rebound.example", ""),
    ])
    func aPageDoesNotGetIn(host: String, origin: String) async {
        #expect(await answer(host: host, origin: origin).status == .forbidden)
    }

    @Test func aDeviceIsServedUntilItGoes() async throws {
        let socket = MemorySocket()
        async let served: Void = serve(socket)
        socket.say(#"{"messageType":"hello","use_webpush":true}"#)
        let hello = try #require(await socket.next())
        #expect(try JSON(parsing: Array(hello.utf8))["status"] == 200)
        #expect(try await devices().first?["isConnected"] == true)

        let message: JSON = ["platform": "browser", "message": ["any": "thing"]]
        #expect(try await fixture.control(.post, "/simulator/sockets/send", message).0 == 204)
        #expect(await socket.next() == #"{"any":"thing"}"#)
        #expect(
            try await fixture.control(.post, "/simulator/sockets/close", ["platform": "browser", "code": 4774]).0 == 204
        )
        #expect(await socket.next() == "closed with 4774")
        await served
        #expect(try await devices().first?["isConnected"] == false)
    }

    @Test func aResetForgetsDevicesAndSendsThemAway() async throws {
        let socket = MemorySocket()
        async let served: Void = serve(socket)
        socket.say(#"{"messageType":"hello","use_webpush":true}"#)
        _ = await socket.next()
        #expect(try await fixture.control(.post, "/simulator/reset").0 == 204)
        #expect(await socket.next() == "closed with 1001")
        await served
        #expect(try await devices().isEmpty)
    }

    @Test(
        arguments: [
            ("close", ["platform": "apns"]), ("close", ["platform": "browser", "code": 999]),
            ("send", ["platform": "browser"]),
            ("send", ["platform": "browser", "message": "text"]),
        ] as [(String, JSON)])
    func senselessSettingsAreRefused(path: String, body: JSON) async throws {
        let (status, answer) = try await fixture.control(.post, "/simulator/sockets/\(path)", body)
        #expect(status == 400 && answer["error"] != nil)
    }

    private func devices() async throws -> [JSON] {
        try await fixture.control(.get, "/simulator/sockets").1["browser"]?.array ?? []
    }

    private func serve(_ socket: MemorySocket) async {
        guard case .webSocket(let serve) = await answer().body else { return }
        await serve(socket)
    }
}

/// A device in memory: what is sent to it, and its goodbye, come out as texts.
private final class MemorySocket: WebSocket {
    private let incoming = AsyncStream.makeStream(of: WebSocketMessage.self)
    private let outgoing = AsyncStream.makeStream(of: String.self)

    func say(_ text: String) {
        incoming.continuation.yield(.text(text))
    }

    /// What was sent next. For one task at a time.
    func next() async -> String? {
        for await text in outgoing.stream { return text }
        return nil
    }

    func receive() async -> WebSocketMessage? {
        for await message in incoming.stream { return message }
        return nil
    }

    func send(_ message: WebSocketMessage) async throws {
        guard case .text(let text) = message else { return }
        outgoing.continuation.yield(text)
    }

    func close(code: UInt16) {
        outgoing.continuation.yield("closed with \(code)")
        incoming.continuation.finish()
    }
}
