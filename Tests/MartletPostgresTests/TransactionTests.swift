import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct TransactionTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let options = TestDatabase.fresh()

    /// A group that has read a registration, and writes after something has happened.
    private struct Interrupted: ShardGroup {
        struct Write: Sendable {
            var draws: @Sendable (inout Ordinals) -> Void = { _ in }
            var interruption: @Sendable () throws -> Void
        }

        static let lockOrder = LockOrder.beforeWrites
        let writes: [Write]

        init(_ writes: [Write]) {
            self.writes = writes
        }

        func reading(in shard: Shard) -> Batch {
            Batch(DeviceReads.byID) {
                $0.add(shard.number)
                $0.add([StoredForm.id("read")])
            }
        }

        mutating func decide(
            _ rows: [Rows], _ numbers: inout Ordinals?, in session: ShardSession
        ) throws(StorageError) -> Batch {
            for write in writes {
                do {
                    try write.interruption()
                } catch {
                    throw StorageError(.unavailable, "\(error)")
                }
                if var drawn = numbers {
                    write.draws(&drawn)
                    numbers = drawn
                }
            }
            return Batch(DeviceChanges.insertTombstones) {
                $0.add(session.shard.number)
                $0.add([StoredForm.id("written")])
                $0.add([Int64(1)])
            }
        }

        func succeed() {}
        func fail(_ error: StorageError) {}
    }

    /// Whether the writes of a transaction stand, and whether they were refused because of what was read.
    private struct End: Equatable {
        var isStored: Bool
        var isStale: Bool
    }

    /// Runs a transaction in which a statement of another one runs between reads and writes.
    private func interrupted(
        by sql: String, _ draws: @escaping @Sendable (inout Ordinals) -> Void = { _ in }
    ) async throws -> End {
        let storage = try await TestDatabase.open(options)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        for id in ["read", "other"] {
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle(id), handleKey: id, tags: [])
            _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now).get()
        }
        await storage.close()
        let settings = try TestDatabase.settings(options)
        let connection = try settings.connect()
        var group = Interrupted(
            [
                Interrupted.Write(draws: draws) {
                    let other = try settings.connect()
                    try other.run(Batch(.rare([], sql)), .until(.now + .seconds(60)))
                }
            ])
        var transaction = Transaction(shard: Shard(hub), writer: 7, number: 1, order: .beforeWrites)
        let failure = transaction.run(
            &group, connection, .seconds(60), isHopeless: { _ in false }, whileWaiting: {})
        let written = try connection.run(
            Batch(.rare([], "SELECT 1 FROM tombstones WHERE shard = \(Shard(hub).number)")),
            .until(.now + .seconds(60)))[0]
        if case .stale = failure { return End(isStored: written.count == 1, isStale: true) }
        #expect(failure == nil)
        return End(isStored: written.count == 1, isStale: false)
    }

    private let own = "WHERE id = '\\x0172656164'"

    @Test func whatWasReadAndChangedSinceIsNotOverwritten() async throws {
        let end = try await interrupted(by: "UPDATE registrations SET version = version + 1 \(own)")
        #expect(end == End(isStored: false, isStale: true))
    }

    @Test func whatWasReadAndRemovedSinceIsNotOverwritten() async throws {
        #expect(try await interrupted(by: "DELETE FROM registrations \(own)") == End(isStored: false, isStale: true))
    }

    @Test func changesToOtherRowsDoNotMatter() async throws {
        let end = try await interrupted(
            by: "WITH c AS (UPDATE ordinals SET changes = changes + 9, registrations = registrations + 3) "
                + "UPDATE registrations SET version = version + 1 WHERE id <> '\\x0172656164'"
        ) { $0.changes += 2 }
        #expect(end == End(isStored: true, isStale: false))
    }

    @Test func aNumberThatAnotherHasDrawnIsNotDrawnAgain() async throws {
        let end = try await interrupted(by: "UPDATE ordinals SET channels = channels + 1") { $0.channels += 1 }
        #expect(end == End(isStored: false, isStale: true))
    }

    @Test func aTransactionThatWasTakenForLostIsNotStoredAfterwards() async throws {
        // Whoever has found that transaction 1 is not stored has left number 2 behind.
        let end = try await interrupted(
            by: "INSERT INTO writers (shard, writer, transaction) SELECT shard, 7, 2 FROM ordinals")
        #expect(end == End(isStored: false, isStale: true))
    }
}
