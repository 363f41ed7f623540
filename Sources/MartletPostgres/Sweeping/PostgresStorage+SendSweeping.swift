public import MartletCore
public import MartletModel

extension PostgresStorage {
    /// Removes a portion of the notifications that ended long ago, with all records of their deliveries. A notification
    /// is kept while an unfinished resend reads its refusals.
    /// - Parameters:
    ///   - time: Notifications that ended at or before this time are removed.
    ///   - limit: The maximum number of notifications in a portion, and the maximum number of removed rows of each
    ///     table.
    /// - Returns: Whether there is more to remove.
    public func sweepNotifications(endedBefore time: Timestamp, limit: Int = 500) async throws(StorageError) -> Bool {
        let batch = Batch(SendSweepStatements.over) {
            $0.add(time)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        var byShard: [Shard: [Int64]] = [:]
        for index in 0..<rows.count {
            byShard[Shard(number: rows[index].integer32(0)), default: []].append(rows[index].integer(1))
        }
        var isMore = rows.count == limit
        for (shard, notifications) in byShard {
            let isDone = try await write(shard) { session throws(StorageError) in
                try Self.removePortion(of: notifications, limit: limit, session)
            }
            isMore = isMore || !isDone
        }
        return isMore
    }

    /// Removes notifications. The rows about their members are removed first and in portions, because a broadcast can
    /// have a million such rows.
    /// - Returns: Whether the notifications have been removed.
    private static func removePortion(
        of notifications: [Int64], limit: Int, _ session: ShardSession
    ) throws(StorageError) -> Bool {
        session.run(
            """
            UPDATE notifications SET has_refusals = false WHERE shard = $1 AND sequence = ANY($2) AND has_refusals
            """, notifications)
        for table in SendSweepStatements.memberTables {
            let removed = try session.changes(
                """
                DELETE FROM \(table) WHERE shard = $1 AND ctid = ANY(ARRAY(
                    SELECT t.ctid FROM deliveries d JOIN \(table) t ON t.shard = $1 AND t.delivery = d.id
                    WHERE d.shard = $1 AND d.notification = ANY($2) LIMIT $3))
                """, notifications, limit)
            guard removed < limit else { return false }
        }
        for table in ["outcome_counts", "collapses"] {
            session.run(
                """
                DELETE FROM \(table) t USING deliveries d
                WHERE t.shard = $1 AND d.shard = $1 AND d.notification = ANY($2) AND t.delivery = d.id
                """, notifications)
        }
        let receipts = try session.changes(
            """
            DELETE FROM notification_receipts WHERE shard = $1 AND ctid = ANY(ARRAY(
                SELECT r.ctid FROM notification_receipts r WHERE r.shard = $1 AND r.notification = ANY($2) LIMIT $3))
            """, notifications, limit)
        guard receipts < limit else { return false }
        session.run("DELETE FROM deliveries WHERE shard = $1 AND notification = ANY($2)", notifications)
        session.run("DELETE FROM parts WHERE shard = $1 AND notification = ANY($2)", notifications)
        session.run("DELETE FROM notifications WHERE shard = $1 AND sequence = ANY($2)", notifications)
        return true
    }

    /// Removes a portion of the stored requests whose retention period has ended, and of the pauses that have ended.
    /// - Returns: Whether there is more to remove.
    public func sweepRequestsAndPauses(at now: Timestamp, limit: Int = 500) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(SendSweepStatements.requests) {
                $0.add(now + (.zero - RequestIdentity.lifetime))
                $0.add(Int64(limit))
            }
            batch.add(SendSweepStatements.pauses) {
                $0.add(now)
                $0.add(Int64(limit))
            }
            return try connection.run(batch, patience).contains { $0.changes == limit }
        }
    }
}

enum SendSweepStatements {
    /// The tables with records of individual members.
    static let memberTables = ["refusals", "retries", "attempts", "page_records", "ranges", "reached"]

    static let over = Statement.rare(
        [.int8, .int8],
        """
        SELECT n.shard, n.sequence FROM notifications n JOIN send_ordinals o ON o.shard = n.shard
        WHERE n.finished_at <= $1 AND o.moving = 0 AND NOT EXISTS (SELECT 1 FROM notifications r
            WHERE r.shard = n.shard AND r.original = n.sequence AND r.finished_at IS NULL)
        ORDER BY n.finished_at LIMIT $2
        """)
    static let requests = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM requests WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM requests WHERE accepted_at <= $1 ORDER BY accepted_at LIMIT $2))
        """)
    static let pauses = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM lane_pauses WHERE ctid = ANY(ARRAY(SELECT ctid FROM lane_pauses WHERE until <= $1 ORDER BY until LIMIT $2))
        """)
}
