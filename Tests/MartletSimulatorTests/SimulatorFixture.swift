import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush
import Synchronization

@testable import MartletSimulator

/// The simulator's handlers without a network.
struct SimulatorFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let connection = HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: true, majorVersion: 2)

    let handler: Router
    let service: ServiceHandler
    let state: SimulatorState

    init(acceptsAnyKey: Bool = true, ledger: SimulatorLedger? = nil) {
        state = SimulatorState(PushPlatforms.simulators(acceptsAnyKey: acceptsAnyKey), ledger: ledger) { Self.now }
        handler = ControlRoutes(state: state).router
        let platform = APNsSimulator.platform
        service = ServiceHandler(
            platform: platform, state: state, connections: ServiceConnections(platform: platform, state: state))
    }

    func control(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> (Int, JSON) {
        let request = HTTPRequest(method, path, body: body?.bytes ?? [], connection: Self.connection)
        let response = await handler.respond(to: request)
        return (response.status.code, response.bytes.isEmpty ? .null : try JSON(parsing: response.bytes))
    }

    func device(topic: String = "com.example.app") async throws -> String {
        let (_, body) = try await control(.post, "/simulator/devices", ["platform": "apns", "topic": .string(topic)])
        return body["handle"]?.string ?? ""
    }

    /// Sends a push as a provider with a key of its own would.
    func push(_ text: String, to handle: String, token: String) async -> HTTPResponse {
        let payload: JSON = ["aps": ["alert": .string(text)]]
        return await service.respond(
            to: HTTPRequest(
                .post, "/3/device/\(handle)",
                fields: HTTPFields([
                    HTTPField("authorization", "bearer \(token)", indexing: .never),
                    HTTPField("apns-topic", "com.example.app"), HTTPField("apns-push-type", "alert"),
                ]), body: payload.bytes, connection: Self.connection))
    }

    static func providerToken(_ key: P256PrivateKey) throws -> String {
        let header: JSON = ["alg": "ES256", "kid": "ABC123DEFG"]
        let claims: JSON = ["iss": "DEF123GHIJ", "iat": .integer(now.seconds)]
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try key.signature(for: Array(signed.utf8))))"
    }
}

/// Hands what is written to a stream to the test.
struct CollectingWriter: HTTPBodyWriter {
    let chunks: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (chunks, continuation) = AsyncStream.makeStream()
    }

    func write(_ bytes: [UInt8]) async throws {
        continuation.yield(String(decoding: bytes, as: UTF8.self))
    }

    func finish() {
        continuation.finish()
    }
}
