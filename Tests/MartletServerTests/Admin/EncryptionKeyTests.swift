import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletStorage
import MartletTesting
import Testing

@testable import MartletServer

/// Which fingerprints of encryption keys the answer about a device has.
struct EncryptionKeyTests {
    private let directory = TemporaryDirectory()
    private static let key = DeviceKey(
        publicKey: [4] + [UInt8](repeating: 7, count: 64), authSecret: [UInt8](repeating: 9, count: 16))

    private func put(
        _ id: String, on platform: String, _ handle: PushHandle, tagged tag: String, in hub: Hub.ID, _ engine: Engine
    ) async throws {
        let draft = RegistrationDraft(
            platform: PlatformID(rawValue: platform), handle: handle, handleKey: "h\(id)", tags: [try Tag(tag)],
            template: nil, pushVariables: [:], expiresAt: nil, takesHandle: false)
        _ = try await engine.storage.apply(.put(draft, id: id, condition: .none), in: hub, at: engine.time.now).get()
    }

    /// Returns the uses of a device's keys with their fingerprints, and the whole answer.
    private func keys(_ id: String, _ router: Router) async throws -> (keys: [String: String], text: String) {
        let response = await router.respond(
            to: HTTPRequest(.get, "/hubs/shop/devices/\(id)", authority: "admin"))
        let keys = try JSON(parsing: response.bytes)["encryptionKeys"]?.array ?? []
        let pairs = keys.map { ($0["use"]?.string ?? "", $0["fingerprint"]?.string ?? "") }
        return (Dictionary(pairs) { first, _ in first }, String(decoding: response.bytes, as: UTF8.self))
    }

    @Test func aDeviceShowsTheFingerprintsOfItsKeysAndNotTheKeys() async throws {
        let configuration = ServerConfiguration(dataDirectory: directory.path, loops: 1)
        let engine = try await Engine.open(configuration, fallbacks: [:])
        let hub = try await engine.hubs.create("shop").id
        let (point, secret) = (Base64URL.encode(Self.key.publicKey), Base64URL.encode(Self.key.authSecret))
        let subscription = PushHandle("https://push.example/1", point, secret)
        try await put("1", on: "apns", PushHandle("a"), tagged: "username:bob", in: hub, engine)
        try await put("2", on: "browser", subscription, tagged: "username:bob", in: hub, engine)
        try await put("3", on: "apns", PushHandle("c"), tagged: "news", in: hub, engine)
        _ = try await engine.storage.putDeviceKey(Self.key, of: "1", tagged: try Tag("username:bob"), in: hub)
        let endpoint = PublicEndpoint(publicURL: nil, tls: nil, clear: nil, hostName: nil)
        let router = engine.makeAdminAPI(configuration, endpoint).makeHandler()
        let fingerprint = DeviceKeyFingerprint.text(of: Self.key.publicKey + Self.key.authSecret)
        let expectations: [(String, [String: String])] = [
            ("1", ["text": fingerprint]), ("2", ["push": fingerprint]), ("3", [:]),
        ]
        for (id, expected) in expectations {
            let (keys, text) = try await self.keys(id, router)
            #expect(keys == expected, "\(id)")
            #expect(!text.contains(point) && !text.contains(secret), "\(id)")
        }
        await engine.close()
    }
}
