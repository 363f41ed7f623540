import Foundation
import MartletClient
import MartletOpenSSL
import MartletURLSession
import Testing

/// What only the recipient's devices can read, from the SDK over a real server and a simulated push service to the SDK.
@Suite(.timeLimit(.minutes(10)))
struct EncryptedPushTests {
    private let secret = "The safe opens with 11-38-27."

    /// A user's app.
    private struct App {
        let client: PushClient

        init(
            _ user: String, on server: RunningServer, registration: MemoryStore = MemoryStore(),
            pins: any KeyPinStore = MemoryKeyPinStore()
        ) async throws {
            let address = try #require(server.address("http"))
            client = PushClient(
                server: try ServerAddress(address.absoluteString),
                transport: URLSessionTransport(timeout: .seconds(120)),
                stores: ClientStores(registration: registration),
                encryption: EndToEndEncryption(
                    OpenSSLCryptography(), keyPairs: MemoryDeviceKeyPairStore(), pins: pins))
            try await client.logIn(user: user, password: "password of \(user)")
        }
    }

    /// A server with a simulator, a hub, and the users alice and bob.
    private func server() async throws -> RunningServer {
        let server = try await RunningServer.start(["--simulator", "--simulator-listen", "127.0.0.1:0"])
        let script = """
            "$0" hub create demo --data "$1" && for user in alice bob; do
                echo "password of $user" | "$0" user add $user --password-stdin --data "$1" || exit
            done
            """
        let done = try await Finished.running(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", script, BuiltProducts.martlet.path, server.dataDirectory.path])
        try #require(done.status == 0, "\(done.output)")
        return server
    }

    private func text(_ payload: [UInt8]) -> String { String(decoding: payload, as: UTF8.self) }

    @Test(
        "A push carries only a ciphertext, which the device decrypts",
        arguments: ["apns", "fcmv1", "wns", "mpns", "adm", "browser"])
    func aDeviceReadsWhatNobodyElseCan(platform: String) async throws {
        let server = try await server()
        let phone = try await SimulatedDevice(on: server, platform: platform)
        let alice = try await App("alice", on: server)
        let bob = try await App("bob", on: server)
        try await alice.client.register(handle: phone.handle, platform: Platform(rawValue: platform))

        let keys = try await bob.client.keys(of: "alice")
        #expect(keys.devices.map(\.fingerprint) == [try await alice.client.fingerprint()])
        let inPush = try await bob.client.sendEncrypted(secret, to: "alice", message: "You have mail.")
        #expect(inPush.map(\.storedID) == [nil])
        #expect(inPush.map(\.device) == keys.devices.map(\.device))
        let long = secret + String(repeating: " It is behind the picture.", count: 200)
        let byID = try await bob.client.sendEncrypted(long, to: "Alice", expiresIn: .seconds(600))
        #expect(byID.first?.storedID != nil)

        // Two pushes may overtake each other.
        var read: Set<String> = []
        for payload in try await phone.pushes(2) {
            #expect(!text(payload).contains("11-38-27"))
            guard case .encrypted(let reference) = PushContent(payload: payload),
                case .content(let message) = try await alice.client.fetch(reference)
            else {
                Issue.record("This push brings nothing encrypted: \(text(payload))")
                continue
            }
            read.insert(message.text ?? "")
        }
        #expect(read == [secret, long])
        #expect(await server.stop() == 0)
    }

    @Test func aKeySwappedOnTheServerIsNoticed() async throws {
        let server = try await server()
        let phone = try await SimulatedDevice(on: server, platform: "apns")
        let registration = MemoryStore()
        let alice = try await App("alice", on: server, registration: registration)
        let bob = try await App("bob", on: server)
        try await alice.client.register(handle: phone.handle, platform: "apns")
        try await bob.client.sendEncrypted(secret, to: "alice")

        // Anyone who rules the server can put a key of their own under alice's registration, as this does.
        let eve = try await App("alice", on: server, registration: registration)
        try await eve.client.register(handle: phone.handle, platform: "apns")
        let error = await #expect(throws: PushClientError.self) {
            try await bob.client.sendEncrypted("The new number is 4.", to: "alice")
        }
        guard case .keysChanged(let keys) = error?.kind else {
            Issue.record("The swapped key was not noticed: \(String(describing: error))")
            return
        }
        #expect(keys.changed.map(\.fingerprint) == [try await eve.client.fingerprint()])
        #expect(keys.removed.map(\.fingerprint) == [try await alice.client.fingerprint()])

        // Nothing went out: the first push and the one after the comparison are the only ones.
        try await bob.client.trust(keys)
        try await bob.client.sendEncrypted("All right.", to: "alice")
        var read: Set<String> = []
        for payload in try await phone.pushes(2) {
            guard case .encrypted(let reference) = PushContent(payload: payload) else { continue }
            for app in [alice, eve] {
                if case .content(let message) = try? await app.client.fetch(reference) {
                    read.insert(message.text ?? "")
                }
            }
        }
        #expect(read == [secret, "All right."])
        #expect(await server.stop() == 0)
    }
}
