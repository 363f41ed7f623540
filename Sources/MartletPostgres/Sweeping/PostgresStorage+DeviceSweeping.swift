import MartletCore
import MartletModel

extension PostgresStorage {
    /// Removes expired installations and registrations, old former states of registrations, and old tombstones, one hub
    /// after another and in portions. Any number of callers may do this at the same time.
    func sweepDevices(at now: Timestamp, keeping retention: Retention) async throws(StorageError) {
        let batch = Batch(DeviceSweepStatements.hubs) {
            $0.add(now)
            $0.add(now + (.zero - retention.tombstones))
            $0.add(Int64(retention.tombstoneLimit))
        }
        let rows = try await read(batch)[0]
        for index in 0..<rows.count where !Task.isCancelled {
            let row = rows[index]
            let shard = Shard(number: row.integer32(0))
            if row.bool(1) { while try await removeExpired(of: shard, at: now), !Task.isCancelled {} }
            if row.bool(2) { while try await removeTombstones(of: shard, at: now, retention), !Task.isCancelled {} }
            // The traces of a notification with a long lifetime need the former states from its beginning on.
            let standard = now + (.zero - retention.history)
            let start = min(standard, row.optionalTimestamp(3) ?? standard)
            while try await removeHistory(of: shard, endedBefore: start, retention), !Task.isCancelled {}
        }
    }

    /// Removes a portion of the expired installations and registrations.
    /// - Returns: Whether there may be more to remove.
    private func removeExpired(of shard: Shard, at now: Timestamp) async throws(StorageError) -> Bool {
        var batch = Batch()
        for statement in [DeviceSweepStatements.installations, DeviceSweepStatements.registrations] {
            batch.add(statement) {
                $0.add(shard.number)
                $0.add(now)
            }
        }
        let rows = try await read(batch)
        let installations = (0..<rows[0].count).map { rows[0][$0].text(0) }
        let registrations = (0..<rows[1].count).map { StoredForm.id(rows[1][$0].bytes(0)) }
        guard !installations.isEmpty || !registrations.isEmpty else { return false }
        var needs = DeviceNeeds()
        needs.installations = Set(installations)
        needs.registrations = Set(registrations)
        try await write(to: shard, needs) { set in
            set.removeExpired(installations: installations, registrations: registrations, at: now)
        }
        return max(installations.count, registrations.count) == DeviceSweepStatements.limit
    }

    private func removeTombstones(
        of shard: Shard, at now: Timestamp, _ retention: Retention
    ) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            let batch = Batch(DeviceSweepStatements.tombstones) {
                $0.add(shard.number)
                $0.add(now + (.zero - retention.tombstones))
                $0.add(Int64(retention.tombstoneLimit))
            }
            return try connection.run(batch, patience)[0].changes == DeviceSweepStatements.limit
        }
    }

    private func removeHistory(
        of shard: Shard, endedBefore start: Timestamp, _ retention: Retention
    ) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            // While the row of numbers is locked, no other transaction adds former states.
            var batch = Batch(DeviceSweepStatements.lock) { $0.add(shard.number) }
            batch.add(DeviceSweepStatements.oldestHistory) { $0.add(shard.number) }
            let rows = try connection.run(batch, patience)
            guard rows[0].count == 1 else { return false }
            let surplus = rows[0][0].integer(0) - Int64(retention.historyLimit)
            let old = (0..<rows[1].count).prefix {
                rows[1][$0].integer(0) <= surplus || rows[1][$0].timestamp(1) <= start
            }
            guard let last = old.last.map({ rows[1][$0].integer(0) }) else { return false }
            var removal = Batch()
            for statement in [
                DeviceSweepStatements.formerChannels, DeviceSweepStatements.history, DeviceSweepStatements.setStart,
            ] {
                removal.add(statement) {
                    $0.add(shard.number)
                    $0.add(last)
                }
            }
            try connection.run(removal, patience)
            return old.count == DeviceSweepStatements.limit
        }
    }
}

extension DeviceSet {
    /// Removes those of the given installations and registrations that have expired. An installation is removed with
    /// its registrations.
    mutating func removeExpired(installations ids: [String], registrations: [String], at now: Timestamp) {
        for id in ids {
            guard let installation = installations[id]?.new, installation.isExpired(at: now) else { continue }
            removeInstallation(id, installation, .expired, at: now)
        }
        for id in registrations {
            guard let stored = find(id), stored.row == nil, stored.isExpired(at: now) else { continue }
            remove(stored, .expired, at: now)
        }
    }
}

/// The statements that find and remove old data of devices.
enum DeviceSweepStatements {
    /// The maximum number of rows per portion.
    static let limit = 500

    /// Returns for each hub whether a registration or installation has expired, whether tombstones may be too old or
    /// too many, and when the oldest notification with a long lifetime began.
    static let hubs = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT o.shard,
            EXISTS (SELECT 1 FROM registrations r WHERE r.shard = o.shard AND r.expires_at <= $1)
                OR EXISTS (SELECT 1 FROM installations i WHERE i.shard = o.shard AND i.expires_at <= $1),
            EXISTS (SELECT 1 FROM tombstones t WHERE t.shard = o.shard AND t.gone_at <= $2)
                OR (SELECT c.reltuples > $3 FROM pg_class c WHERE c.oid = 'tombstones'::regclass),
            (SELECT n.begun_at FROM notifications n
                WHERE n.shard = o.shard AND n.expires_at - n.begun_at > \(Migration.longLifetime)
                ORDER BY n.begun_at LIMIT 1)
        FROM ordinals o WHERE o.moving = 0 ORDER BY o.shard
        """)

    static let installations = Statement.rare(
        [.int4, .int8],
        """
        SELECT id FROM installations WHERE shard = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT \(limit)
        """)
    static let registrations = Statement.rare(
        [.int4, .int8],
        """
        SELECT id FROM registrations WHERE shard = $1 AND expires_at <= $2 AND installation IS NULL
        ORDER BY expires_at LIMIT \(limit)
        """)

    /// Removes a portion of the tombstones that are too old, and of those above the maximum number, the oldest first.
    static let tombstones = Statement.rare(
        [.int4, .int8, .int8],
        """
        DELETE FROM tombstones WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM tombstones WHERE shard = $1 AND gone_at <= greatest($2,
                (SELECT gone_at FROM tombstones WHERE shard = $1
                    AND (SELECT c.reltuples > $3 FROM pg_class c WHERE c.oid = 'tombstones'::regclass)
                    ORDER BY gone_at DESC OFFSET $3 LIMIT 1))
            ORDER BY gone_at LIMIT \(limit) FOR UPDATE SKIP LOCKED))
        """)

    static let lock = Statement.rare([.int4], "SELECT changes FROM ordinals WHERE shard = $1 FOR UPDATE")
    static let oldestHistory = Statement.rare(
        [.int4],
        """
        SELECT change, ended_at FROM registration_history WHERE shard = $1 ORDER BY change LIMIT \(limit)
        """)
    /// Removes the former channels that occur only in the states that are removed next.
    static let formerChannels = Statement.rare(
        [.int4, .int8],
        """
        DELETE FROM former_channels f WHERE f.shard = $1
            AND f.channel IN (SELECT h.channel FROM registration_history h WHERE h.shard = $1 AND h.change <= $2)
            AND NOT EXISTS (SELECT 1 FROM registration_history k
                WHERE k.shard = $1 AND k.channel = f.channel AND k.change > $2)
        """)
    static let history = Statement.rare(
        [.int4, .int8], "DELETE FROM registration_history WHERE shard = $1 AND change <= $2")
    static let setStart = Statement.rare(
        [.int4, .int8], "UPDATE ordinals SET history_start = $2 WHERE shard = $1")
}
