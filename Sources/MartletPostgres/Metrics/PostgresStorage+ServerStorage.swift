public import MartletCore
import MartletModel

extension PostgresStorage: ServerStorage {
    public var containerStore: any ContainerStore { containers }
    public var nodeStore: (any NodeStore)? { nodes }

    public func turn() async {
        await withTaskGroup { group in
            for link in writers { group.addTask { await link.turn() } }
        }
    }

    public func backlog() async throws(StorageError) -> Backlog {
        let row = try await read(Batch(FigureStatements.backlog))[0][0]
        return Backlog(
            deliveries: Int(row.integer(0)), notifications: Int(row.integer(1)), oldest: row.optionalTimestamp(2))
    }

    public func waitingRetries(limit: Int) async throws(StorageError) -> [LaneID: WaitingRetries] {
        let rows = try await read(Batch(FigureStatements.waitingRetries) { $0.add(Int64(limit)) })[0]
        let isPartial = (0..<rows.count).reduce(0) { $0 + Int(rows[$1].integer(2)) } >= limit
        var lanes: [LaneID: WaitingRetries] = [:]
        for row in (0..<rows.count).map({ rows[$0] }) {
            let lane = LaneID(
                hub: Hub.ID(rawValue: row.integer(0)), platform: PlatformID(rawValue: row.text(1)))
            lanes[lane] = WaitingRetries(
                pushes: Int(row.integer(2)), notifications: Int(row.integer(3)), firstExpiry: row.timestamp(4),
                nextDue: row.timestamp(5), isPartial: isPartial)
        }
        return lanes
    }

    public func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize {
        guard let hub else { return try await backlogOfAll() }
        let rows = try await read(Batch(FigureStatements.backlogOfHub) { $0.add(Shard(hub).number) })[0]
        guard rows.count == 1 else { return BacklogSize(notifications: 0, bytes: 0) }
        return BacklogSize(notifications: Int(rows[0].integer(0)), bytes: rows[0].integer(1))
    }

    public func waitingParts() async throws(StorageError) -> WaitingParts {
        let row = try await read(Batch(FigureStatements.waitingParts))[0][0]
        return WaitingParts(count: Int(row.integer(0)), nextDue: row.optionalTimestamp(1))
    }

    public var waitingWrites: Int { devices.waitingCount + sends.waitingCount }

    public var writeTimes: WriteTimes {
        var times = devices.writeTimes
        let others = sends.writeTimes
        times.wait.add(others.wait)
        times.commit.add(others.commit)
        return times
    }
}

/// Statements for metrics of all hubs. They run at most every few seconds.
enum FigureStatements {
    static let backlog = Statement.rare(
        [],
        """
        SELECT count(*), count(DISTINCT (d.shard, d.notification)), min(coalesce(p.begun_at, n.due_at, n.accepted_at)) FROM deliveries d
            JOIN notifications n ON n.shard = d.shard AND n.sequence = d.notification
            LEFT JOIN parts p ON p.shard = d.shard AND p.notification = d.notification AND p.number = d.part
        WHERE NOT d.is_final
        """)
    static let backlogOfHub = Statement.rare([.int4], "SELECT notifications, bytes FROM backlogs WHERE shard = $1")
    static let waitingRetries = Statement.rare(
        [.int8],
        """
        SELECT f.shard::int8, f.platform, count(*), count(DISTINCT n.sequence), min(n.expires_at), min(f.due_at)
        FROM (SELECT d.shard, d.notification, d.platform, r.due_at FROM deliveries d
            JOIN retries r ON r.shard = d.shard AND r.delivery = d.id WHERE NOT d.is_final LIMIT $1) f
        JOIN notifications n ON n.shard = f.shard AND n.sequence = f.notification GROUP BY f.shard, f.platform
        """)
    static let waitingParts = Statement.rare(
        [],
        """
        SELECT count(*), min(p.due_at) FROM parts p WHERE p.begun_at IS NULL AND EXISTS (
            SELECT 1 FROM notifications n WHERE n.shard = p.shard AND n.sequence = p.notification
                AND n.begun_at IS NOT NULL AND n.finished_at IS NULL)
        """)
}
