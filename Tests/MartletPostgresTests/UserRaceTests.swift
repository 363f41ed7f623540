import MartletCore
import MartletModel
import Synchronization
import Testing

@testable import MartletPostgres

/// Two nodes decide about users as one does.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct UserRaceTests {
    private static let now = Timestamp(seconds: 1_700_000_000)
    /// The sessions that wait for a lock of the session that asks.
    private static let waiting = Statement.rare(
        [], "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")

    /// A log-in that runs beside a transaction.
    private final class LogIn: Sendable {
        private let task = Mutex<Task<Void, any Error>?>(nil)
        private let stored = Atomic(false)

        var isStored: Bool { stored.load(ordering: .acquiring) }

        func begin(_ session: Session, at node: PostgresStorage) {
            task.withLock {
                $0 = Task {
                    try await node.addSession(session)
                    stored.store(true, ordering: .releasing)
                }
            }
        }

        func finish() async throws { try await task.withLock(\.self)?.value }
    }

    @Test func aLogInWaitsForAChangeOfThePasswordAtAnotherNode() async throws {
        let session = Session(
            tokenHash: [1], userName: "alice", createdAt: Self.now, expiresAt: Self.now + .seconds(3600))
        try await TestDatabase.withNodes(2) { nodes in
            try await nodes[0].putUser(User(name: "alice", passwordHash: "old", createdAt: Self.now))
            let logIn = LogIn()
            let hasWaited = try await nodes[0].transaction { connection, patience throws(DatabaseFailure) in
                let change = Statement.rare([], "UPDATE users SET password_hash = 'new' WHERE folded_name = 'alice'")
                _ = try connection.run(Batch(change), patience)
                logIn.begin(session, at: nodes[1])
                while !logIn.isStored {
                    if try connection.run(Batch(Self.waiting), patience)[0].count > 0 { return true }
                }
                return false
            }
            #expect(hasWaited, "the log-in has been stored beside a change that is not committed yet")
            try await logIn.finish()
            #expect(try await nodes[1].user("alice")?.passwordHash == "new")
        }
    }
}
