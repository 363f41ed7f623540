import Foundation
import MartletClient
import MartletURLSession
import Testing

/// The SDK over `URLSession` against a real server.
@Suite(.timeLimit(.minutes(10)))
struct SDKTests {
    /// A server with a hub and the users alice, bob and carol.
    private func serve(_ options: [String] = []) async throws -> (server: RunningServer, address: ServerAddress) {
        let server = try await RunningServer.start(["--simulator", "--simulator-listen", "127.0.0.1:0"] + options)
        let simulator = try #require(server.readyLine.split(separator: " ").first { $0.hasPrefix("simulator=") })
        try await martlet(server, "hub create demo")
        try await martlet(server, "hub credential set demo apns --simulator \(simulator.dropFirst(10))")
        for user in ["alice", "bob", "carol"] { try await martlet(server, "user add \(user) --password-stdin") }
        return (server, try ServerAddress(try #require(server.address("http")).absoluteString))
    }

    private func martlet(_ server: RunningServer, _ words: String) async throws {
        let line = "echo secret | '\(BuiltProducts.martlet.path)' \(words) --data '\(server.dataDirectory.path)'"
        let done = try await Finished.running(URL(fileURLWithPath: "/bin/sh"), ["-c", line])
        #expect(done.status == 0, "\(words): \(done.output)")
    }

    private func phone(
        _ user: String?, _ address: ServerAddress, stores: ClientStores = ClientStores()
    ) async throws -> PushClient {
        let client = PushClient(
            server: address, transport: URLSessionTransport(timeout: .seconds(120)), stores: stores,
            retry: RetryPolicy(attempts: 2, keepsTrying: false))
        if let user { try await client.logIn(user: user, password: "secret") }
        return client
    }

    /// The content itself, where nobody was asked to log in.
    private func content<Value>(_ fetched: Fetched<Value>) throws -> Value {
        guard case .content(let value) = fetched else { throw PushMissing() }
        return value
    }

    private struct PushMissing: Error {}

    @Test func aFileTravelsFromFileToFileAndOnlyToItsAddressees() async throws {
        let (server, address) = try await serve()
        let folder = server.dataDirectory.appendingPathComponent("test")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let picture = folder.appendingPathComponent("picture.png")
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        try bytes.write(to: picture)
        let bob = try await phone("bob", address)
        let id = try await bob.sendRich(
            .file(picture.path), to: "alice", message: "look \"here\" 🐦", contentType: "image/png")
        let reference = RichReference(id: id, message: "look \"here\" 🐦", type: "img")

        let alice = try await phone("alice", address)
        #expect(try await bob.readers(of: id) == [PayloadReader.unread("alice")])
        let path = folder.appendingPathComponent("fetched.png").path
        let notification = try content(try await alice.fetch(reference, to: path))
        #expect(notification.contentType == "image/png")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try content(try await alice.fetch(reference)).content == .bytes(Array(bytes)))
        #expect(try await bob.readers(of: id).first?.readAt != nil)

        let carol = try await phone("carol", address)
        for id in [id, id + 1] {
            let error = await #expect(throws: PushClientError.self) { try await carol.fetch(RichReference(id: id)) }
            #expect(error?.kind == .notFound)
        }
        let nobody = try await phone(nil, address)
        #expect(try await nobody.fetch(reference) == .logInNeeded(LogInPrompt(message: reference.message)))
        #expect(await server.stop() == 0)
    }

    @Test func aFileThatIsLargerThanTheServerTakesIsRefusedInItsWords() async throws {
        let (server, address) = try await serve(["--payload-limit", "100000"])
        let bob = try await phone("bob", address)
        let error = await #expect(throws: PushClientError.self) {
            try await bob.sendRich(
                .bytes([UInt8](repeating: 7, count: 100_001)), to: "alice", contentType: "image/png")
        }
        #expect(error?.kind == .messageTooLong)
        #expect(error?.message.contains("100000") == true)
        #expect(await server.stop() == 0)
    }

    @Test func aSecretIsReadOnceByItsAddresseeAlone() async throws {
        let (server, address) = try await serve()
        let bob = try await phone("bob", address)
        let id = try await bob.sendSecure("The vault opens at noon", to: ["alice"], once: true)
        let carol = try await phone("carol", address)
        let foreign = await #expect(throws: PushClientError.self) { try await carol.fetch(SecureReference(id: id)) }
        #expect(foreign?.kind == .notFound)
        let alice = try await phone("alice", address)
        let secret = try content(try await alice.fetch(SecureReference(id: id)))
        #expect(secret.text == "The vault opens at noon")
        #expect(!secret.wasRead)
        let again = await #expect(throws: PushClientError.self) { try await alice.fetch(SecureReference(id: id)) }
        #expect(again?.kind == .notFound)
        #expect(await server.stop() == 0)
    }

    @Test func aDeviceRegistersSendsReceiptsAndLogsOutAfterALaunchWithoutNetwork() async throws {
        let (server, address) = try await serve()
        let stores = ClientStores(folder: server.dataDirectory.appendingPathComponent("phone").path)
        let first = try await phone("alice", address, stores: stores)
        let token = [UInt8](repeating: 0xAB, count: 32)
        try await first.register(deviceToken: token, platform: "apns", tags: ["news"])
        #expect(await first.registrationState == .registered)
        let text = try await phone("bob", address).send("hello", to: "alice", platform: "apns")
        await first.received(PushContent(data: ["message": "hello", "notificationId": text]))
        await first.resume()
        #expect(await stores.receipts.load() == nil, "the server took the receipt")

        let offline = PushClient(
            server: try ServerAddress("http://127.0.0.1:9"), transport: URLSessionTransport(), stores: stores,
            retry: RetryPolicy(attempts: 1, keepsTrying: false))
        #expect(await offline.user == "alice")
        await offline.logOut()
        let later = try await phone(nil, address, stores: stores)
        await later.resume()
        #expect(await stores.credentials.load() == nil)
        #expect(await stores.registration.load() == nil)
        #expect(await later.registrationState == .unregistered)
        #expect(await server.stop() == 0)
    }
}

extension PayloadReader {
    fileprivate static func unread(_ user: String) -> PayloadReader { PayloadReader(user: user, readAt: nil) }
}
