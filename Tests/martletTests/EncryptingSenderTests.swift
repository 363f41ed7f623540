import MartletClient
import MartletCrypto
import MartletModel
import MartletOpenSSL
import Synchronization
import Testing

@testable import martlet

struct EncryptingSenderTests {
    private static func key() throws -> DeviceKey { try DeviceKeyPair.generate(OpenSSLCryptography()).key }

    private static func sender(_ server: KeyServer) async throws -> EncryptingSender {
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            encryption: EndToEndEncryption(
                OpenSSLCryptography(), keyPairs: MemoryDeviceKeyPairStore(), pins: MemoryKeyPinStore()),
            retry: .once)
        try await client.logIn(user: "alice", password: "secret")
        return EncryptingSender(client: client, compared: [])
    }

    @Test func theKeysShownFirstAreThoseEncryptedFor() async throws {
        let (shown, swapped) = (try Self.key(), try Self.key())
        let server = KeyServer([("1", shown), ("1", swapped)])
        let sender = try await Self.sender(server)
        let keys = try await sender.trustedKeys(of: "bob")
        #expect(keys.isFirstUse)
        await #expect(throws: PushClientError.self) { try await sender.client.sendEncrypted("secret", to: "bob") }
        #expect(server.posts == 0)
        #expect(try await sender.client.keys(of: "bob").isTrusted == false)
    }

    @Test func aUserWithoutAKeyIsNotPinned() async throws {
        let sender = try await Self.sender(KeyServer([nil, ("1", try Self.key())]))
        #expect(try await sender.trustedKeys(of: "bob").isFirstUse)
        #expect(try await sender.trustedKeys(of: "bob").isFirstUse)
    }

    @Test func noWordOfTheServersPassesForAFingerprint() async throws {
        let key = try Self.key()
        let device = "\u{1B}[2K\u{1B}[Gfirst    \(String(repeating: "12345 ", count: 8))\n\u{202E}"
        let sender = try await Self.sender(KeyServer([(device, key)]))
        let line = try #require(EncryptingSender.lines(try await sender.trustedKeys(of: "bob")).first)
        #expect(line.hasPrefix("first    \(try KeyFingerprint(of: key, OpenSSLCryptography()))  apns  "))
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.properties.isBidiControl })
    }
}

/// A server that gives a user's key, another one each time.
private final class KeyServer: ClientTransport {
    private let state: Mutex<(answers: [JSON], posts: Int)>

    /// - Parameter devices: Of each answer the one device, with its key; the last one goes on being given.
    init(_ devices: [(device: String, key: DeviceKey)?]) {
        let answers = devices.map { entry -> JSON in
            let devices = entry.map { entry -> JSON in
                [
                    "device": .string(entry.device), "platform": "apns",
                    "publicKey": .string(Base64URL.encode(entry.key.publicKey)),
                    "authSecret": .string(Base64URL.encode(entry.key.authSecret)),
                ]
            }
            return ["devices": .array([devices].compactMap(\.self))]
        }
        state = Mutex((answers, 0))
    }

    /// How often something was to be sent.
    var posts: Int { state.withLock { $0.posts } }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        guard !request.url.hasSuffix("/api/sessions") else {
            return ClientResponse(status: 201, body: Array(#"{"token":"T"}"#.utf8))
        }
        return state.withLock { state in
            guard request.method == "GET" else {
                state.posts += 1
                return ClientResponse(status: 201, body: Array(#"{"devices":[]}"#.utf8))
            }
            let answer = state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
            return ClientResponse(status: 200, body: answer.bytes)
        }
    }
}
