import MartletCore
import MartletModel
import MartletStorage
import Testing

@testable import MartletServer

/// Every step of a rotation, each followed by the loss of the process: what is stored opens.
struct KeyRotationTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func open() throws -> KeyRotation {
        let keys = try ServerKeys(in: directory.path, environment: nil)
        return KeyRotation(keys: keys, storage: try SQLiteStorage(directory: directory.path, sealer: keys))
    }

    /// Closes, opens again, and compares.
    private func restart(_ rotation: KeyRotation, _ settings: [HubSettings]) async throws -> KeyRotation {
        await rotation.storage.close()
        let next = try open()
        #expect(try await next.storage.hubs().map(\.settings) == settings)
        return next
    }

    @Test func afterAnyStepOfARotationAllSecretsOpen() async throws {
        var rotation = try open()
        for number in 0..<3 {
            let rule = AccessRule(
                name: "rule", rights: .all, primaryKey: "p\(number)", secondaryKey: "s\(number)", createdAt: now,
                modifiedAt: now)
            _ = try await rotation.storage.createHub(
                name: "hub\(number)", settings: HubSettings(accessRules: [rule]), at: now)
        }
        let settings = try await rotation.storage.hubs().map(\.settings)
        #expect(try await rotation.status().left == 0)
        #expect(try await rotation.rotate().left == 6)
        rotation = try await restart(rotation, settings)
        await #expect(throws: ServerError.self, "old keys are in use") { try await rotation.retire() }
        rotation = try await restart(rotation, settings)
        try await rotation.finish()
        #expect(try await rotation.status().left == 0)
        #expect(rotation.keys.ids.count == 2)
        rotation = try await restart(rotation, settings)
        #expect(try await rotation.retire().ids.count == 1)
        rotation = try await restart(rotation, settings)
        #expect(try await rotation.status().left == 0)
        #expect(rotation.keys.ids.count == 1)
        await rotation.storage.close()
    }

    @Test func oneRotationAfterAnotherLeavesNothingBehind() async throws {
        let rotation = try open()
        _ = try await rotation.storage.createHub(name: "hub", settings: HubSettings(), at: now)
        for _ in 0..<3 { _ = try await rotation.rotate() }
        #expect(try await rotation.reseal().left == 0)
        #expect(try await rotation.retire().ids.count == 1)
        await rotation.storage.close()
    }
}
