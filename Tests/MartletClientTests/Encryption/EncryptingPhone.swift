import MartletModel
import MartletOpenSSL

@testable import MartletClient

/// A client with keys and pins, logged in at a scripted server.
struct EncryptingPhone {
    static let cryptography = OpenSSLCryptography()

    let client: PushClient
    let server: ScriptedServer
    let keyPairs: any DeviceKeyPairStore
    let pins: any KeyPinStore

    init(
        _ entries: [ScriptedServer.Entry], keyPairs: any DeviceKeyPairStore = MemoryDeviceKeyPairStore(),
        pins: any KeyPinStore = MemoryKeyPinStore()
    ) async throws {
        server = ScriptedServer([.session("T")] + entries)
        self.keyPairs = keyPairs
        self.pins = pins
        let credentials = KeptCredentials()
        await credentials.save(Credentials(user: "alice", password: "secret"))
        client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(credentials: credentials.store),
            encryption: EndToEndEncryption(Self.cryptography, keyPairs: keyPairs, pins: pins),
            retry: RetryPolicy(attempts: 1, keepsTrying: false))
    }

    /// What was asked for besides a session.
    var lines: [String] { Array(server.lines.dropFirst()) }

    /// The body of a request, the session's not counted.
    func body(_ index: Int) throws -> JSON { try JSON(parsing: server.requests[index + 1].body ?? []) }
}

/// A recipient's device as a test has it: under an id, with a key pair.
struct Device {
    let id: String
    let keyPair: DeviceKeyPair

    init(_ id: String) throws {
        self.id = id
        keyPair = try DeviceKeyPair.generate(EncryptingPhone.cryptography)
    }

    init(_ id: String, _ keyPair: DeviceKeyPair) {
        self.id = id
        self.keyPair = keyPair
    }

    var fingerprint: KeyFingerprint {
        get throws { try KeyFingerprint(of: keyPair.key, EncryptingPhone.cryptography) }
    }

    /// An answer of the server that names these devices.
    static func keys(_ devices: Device...) -> ScriptedServer.Entry {
        .answer(
            200,
            [
                "user": "bob",
                "devices": .array(
                    devices.map { device in
                        [
                            "device": .string(device.id), "platform": "apns",
                            "publicKey": .string(Base64.urlSafe.encode(device.keyPair.key.publicKey)),
                            "authSecret": .string(Base64.urlSafe.encode(device.keyPair.key.authSecret)),
                        ]
                    }),
            ])
    }
}

extension ScriptedServer.Entry {
    /// The answer to an encrypted message.
    static func sent(_ devices: (String, JSON)...) -> ScriptedServer.Entry {
        .answer(201, ["devices": .array(devices.map { ["device": .string($0.0), "id": $0.1] })])
    }
}
