import Foundation
import MartletModel
import Testing

@testable import MartletClient

struct FileStoreTests {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")

    func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test func aValueIsKeptForThisUserAlone() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a/b/secret")
        let store = FileStore(file.path)
        #expect(await store.load() == nil)
        await store.save([1, 2, 3])
        #expect(await FileStore(file.path).load() == [1, 2, 3])
        await store.save([4])
        #expect(await store.load() == [4])
        #expect(try mode(file) == 0o600)
        #expect(try mode(folder) == 0o700)
        #expect(try mode(folder.appendingPathComponent("a/b")) == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("a/b").path) == ["secret"]
        )
        await store.save(nil)
        #expect(await store.load() == nil)
    }

    @Test func aNewValueThatCannotBeWrittenLeavesTheOldOne() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("secret")
        let store = FileStore(file.path)
        await store.save([1])
        // A folder is where the new file would be made.
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("secret.new"), withIntermediateDirectories: false)
        await store.save([2])
        #expect(await store.load() == [1])
    }

    @Test func missingAndOverlongFilesAreNotRead() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(await FileStore(folder.path).load() == nil)
        let file = folder.appendingPathComponent("long")
        try Data(count: FileStore.limit + 1).write(to: file)
        #expect(await FileStore(file.path).load() == nil)
    }

    @Test func theFilesOfOneFolderKeepALaunch() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = ScriptedServer(.session("T"), .answer(200, "7"), .ok)
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(folder: folder.path), retry: RetryPolicy(attempts: 1, keepsTrying: false))
        try await client.logIn(user: "alice", password: "secret")
        try await client.register(handle: "H", platform: "fcm")
        let later = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(folder: folder.path))
        #expect(await later.user == "alice")
        #expect(await later.registrationState == .registered)
        #expect(try mode(folder.appendingPathComponent("credentials")) == 0o600)
    }
}
