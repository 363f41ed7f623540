import Foundation
import MartletCore
import MartletModel
import MartletStorage
import Testing

struct SealingTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    /// Every byte of every file of the data directory.
    private func storedBytes() -> Data {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: directory.path)) ?? []
        return files.reduce(into: Data()) { bytes, name in
            bytes += FileManager.default.contents(atPath: "\(directory.path)/\(name)") ?? Data()
        }
    }

    private func storeSecrets() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let rule = AccessRule(
            name: "rule-in-the-clear", rights: .send, primaryKey: "primary-secret", secondaryKey: "secondary-secret",
            createdAt: now, modifiedAt: now)
        _ = try await storage.createHub(name: "loft", settings: HubSettings(accessRules: [rule]), at: now)
        let old = try #require(try await storage.hubs().first)
        var hub = old
        hub.settings.credentials = [PlatformID(rawValue: "pigeon"): Credential(["Whistle": "credential-secret"])]
        let update = try await storage.updateHub(
            hub.id, settings: hub.settings, replacing: old.settings, at: now)
        #expect(update == .stored)
        let root = AccessRule(
            name: "root", rights: .all, primaryKey: "root-secret", secondaryKey: "other-root-secret", createdAt: now,
            modifiedAt: now)
        #expect(try await storage.setNamespaceRules([root], replacing: []))
        await storage.close()
    }

    @Test func keysAndCredentialsAreNowhereInTheFiles() async throws {
        try await storeSecrets()
        let bytes = storedBytes()
        #expect(bytes.range(of: Data("rule-in-the-clear".utf8)) != nil, "the search finds what is there")
        for secret in ["primary-secret", "secondary-secret", "credential-secret", "root-secret"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
    }

    @Test func aJobOfAnotherKeySaysThatItIsTheJobThatCannotBeRead() async throws {
        let first = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await first.createHub(name: "loft", settings: HubSettings(), at: now)).id
        try await first.createJob(
            Job(
                id: "1", hub: hub, kind: .importCreate, outputURL: "https://h/out?sig=1",
                output: try #require(ContainerName("jobs")), directory: try #require(BlobName("loft/1")), input: nil,
                createdAt: now))
        await first.close()
        let second = try SQLiteStorage(directory: directory.path, sealer: XORSealer(key: 0xFF))
        await #expect { try await second.unfinishedJobs() } throws: { "\($0)".contains("A job cannot be read") }
        await second.close()
    }

    @Test func anotherKeyIsNoticed() async throws {
        try await storeSecrets()
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer(key: 0xFF))
        for read in [{ _ = try await storage.hubs() }, { _ = try await storage.namespaceRules() }] {
            await #expect { try await read() } throws: { error in
                let error = error as? StorageError
                return error?.kind == .corrupt && error?.detail.contains("encryption key") == true
            }
        }
        await storage.close()
    }
}
