import MartletCore
import Synchronization

/// Runs ANALYZE on tables that have grown a lot since their statistics were made, such as those of a new database.
///
/// A plan is made once for each connection, and again only after an ANALYZE. PostgreSQL itself runs it a minute or more
/// after a table has filled. Until then, plans that were made for empty tables would read whole tables, or all rows of a
/// hub. With several nodes, the first one that sees the growth analyzes.
final class TableAnalysis: Sendable {
    /// A table is analyzed when it has more than this many times the pages that it had at its last ANALYZE. So it is
    /// analyzed a few times while it grows, and autovacuum does the rest.
    private static let growth: Int64 = 4
    /// The time between two looks at the tables is doubled with each failure, up to this many times.
    private static let failureLimit = 6

    private let link: Link
    private let schema: String
    private let patience: Duration
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter link: A connection for reads. The ANALYZE of a table takes it for less than a second.
    init(_ link: Link, schema: String, patience: Duration) {
        (self.link, self.schema, self.patience) = (link, schema, patience)
    }

    /// Looks at the tables from time to time, until `stop` is called.
    func start(interval: Duration) {
        let work = Task { [weak self] in
            var failures = 0
            while (try? await Task.sleep(for: interval * (1 << failures))) != nil, let self {
                do throws(DatabaseFailure) {
                    try await analyzeGrownTables()
                    failures = 0
                } catch {
                    // Plans stay as they are. What is wrong with the database shows in every other statement.
                    failures = min(failures + 1, Self.failureLimit)
                }
            }
        }
        task.withLock { $0 = work }
    }

    func stop() {
        task.withLock { $0?.cancel() }
    }

    /// Analyzes the tables one after another. In between, the connection is free for reads. A table that cannot be
    /// analyzed does not keep the others from it.
    /// - Returns: The names of the tables that were analyzed.
    /// - Throws: The first failure, after all tables were tried. If the connection fails, the rest is not tried.
    @discardableResult
    func analyzeGrownTables() async throws(DatabaseFailure) -> [String] {
        let names = try await perform { [schema] connection, patience throws(DatabaseFailure) -> [String] in
            let grown = Batch(Self.grown) {
                $0.add(schema)
                $0.add(Self.growth)
            }
            let rows = try connection.run(grown, patience)[0]
            return (0..<rows.count).map { rows[$0].text(0) }
        }
        var analyzed: [String] = []
        var failure: DatabaseFailure?
        for name in names {
            do throws(DatabaseFailure) {
                // A table that another node or autovacuum is analyzing is left out.
                try await perform { connection, patience throws(DatabaseFailure) -> Void in
                    _ = try connection.run(Batch(.rare([], "ANALYZE (SKIP_LOCKED) \(name)")), patience)
                }
                analyzed.append(name)
            } catch {
                failure = failure ?? error
                guard case .refused = error, !error.isOfConnection else { break }
            }
        }
        if let failure { throw failure }
        return analyzed
    }

    private func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) -> Value
    ) async throws(DatabaseFailure) -> Value {
        try await link.perform { [patience] access throws(DatabaseFailure) in
            do throws(DatabaseFailure) {
                return try work(access.connection, .until(.now + patience))
            } catch {
                if error.isOfConnection { access.drop() }
                throw error
            }
        }
    }

    private static let grown = Statement.rare(
        [.text, .int8],
        """
        SELECT f.name FROM (
            SELECT c.oid::regclass::text AS name, c.relpages,
                pg_relation_size(c.oid) / current_setting('block_size')::int8 AS pages
            FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
            WHERE s.nspname = $1 AND c.relkind = 'r') f
        WHERE f.pages > f.relpages * $2 ORDER BY f.name
        """)
}
