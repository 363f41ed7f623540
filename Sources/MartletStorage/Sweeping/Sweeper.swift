import MartletCore
import MartletModel

/// Removes expired data, on one connection, a portion at a time. In tables whose rows are in the order of their age, it
/// examines only the oldest rows, so that a sweep that finds nothing costs almost nothing.
struct Sweeper {
    private let connection: Connection
    private let now: Timestamp
    private let retention: Retention

    /// The maximum number of rows per portion.
    static let limit = 500

    init(_ connection: Connection, _ retention: Retention, at now: Timestamp) {
        self.connection = connection
        self.now = now
        self.retention = retention
    }

    /// A kind of data that a sweep removes.
    enum Kind: CaseIterable, Sendable {
        case installations, registrations, oldHistory, surplusHistory, oldTombstones, surplusTombstones, sessions,
            requests, sends, pauses, notifications, audit, surplusRefusals
    }

    /// Removes a portion of a kind of data.
    /// - Returns: A number that is at least `limit` if there may be more to remove. For most kinds it is the number of
    ///   removed rows.
    func removePortion(of kind: Kind) throws(StorageError) -> Int {
        switch kind {
        case .installations: try InstallationTable(connection).removeExpired(at: now, limit: Self.limit)
        case .registrations: try removeExpiredRegistrations()
        case .oldHistory:
            try HistoryTable(connection).removeOld(before: historyStart(), limit: Self.limit)
        case .surplusHistory:
            try HistoryTable(connection).removeSurplus(over: retention.historyLimit, limit: Self.limit)
        case .oldTombstones: try removeOldTombstones()
        case .surplusTombstones: try removeSurplusTombstones()
        case .sessions: try removeExpiredSessions()
        case .requests: try RequestTable(connection).removeOld(at: now, limit: Self.limit)
        case .sends: try SendTable(connection).removeOld(at: now, limit: Self.limit)
        case .pauses: try LaneTable(connection).removeOldPauses(at: now, limit: Self.limit)
        case .notifications:
            try removeOldParts() + removeOldReceipts() > 0 ? Self.limit : removeOldNotifications()
        case .audit:
            try AuditTable(connection).removeOld(before: now + (.zero - retention.audit), limit: Self.limit)
        case .surplusRefusals:
            try AuditTable(connection).removeRefusals(but: retention.refusalLimit, limit: Self.limit)
        }
    }

    /// Returns the time since which the former states of registrations are kept.
    private func historyStart() throws(StorageError) -> Timestamp {
        let standard = now + (.zero - retention.history)
        let oldest = try connection.first(
            """
            SELECT begun_at FROM notifications INDEXED BY long_notifications
            WHERE expires_at - begun_at > \(Migration.longLifetime) ORDER BY begun_at LIMIT 1
            """
        ) { $0.timestamp(0) }
        return min(standard, oldest ?? standard)
    }

    /// Removes expired registrations that do not belong to an installation. Other registrations are removed together
    /// with their installation.
    private func removeExpiredRegistrations() throws(StorageError) -> Int {
        let table = RegistrationTable(connection)
        let expired = try connection.all(
            "\(StoredRegistration.selection) WHERE r.expires_at <= ? AND r.installation IS NULL LIMIT ?", now,
            Self.limit,
            read: StoredRegistration.init)
        for registration in expired { try table.remove(registration, .expired, at: now) }
        return expired.count
    }

    private func removeOldTombstones() throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM tombstones WHERE gone_at <= ? AND sequence IN
                (SELECT sequence FROM tombstones ORDER BY sequence LIMIT ?)
            """, now + (.zero - retention.tombstones), Self.limit)
        return connection.changes
    }

    private func removeSurplusTombstones() throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM tombstones WHERE sequence IN (SELECT sequence FROM tombstones
                WHERE sequence <= (SELECT max(sequence) FROM tombstones) - ? ORDER BY sequence LIMIT ?)
            """, retention.tombstoneLimit, Self.limit)
        return connection.changes
    }

    private func removeExpiredSessions() throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= ? LIMIT ?)
            """, now, Self.limit)
        return connection.changes
    }

    /// The SQL condition that a notification `n` may be removed. A notification with an unfinished resend may not be
    /// removed, because the resend reads the notification's refusals.
    private static let isOver = """
        n.finished_at <= ? AND NOT EXISTS
            (SELECT 1 FROM notifications r WHERE r.original = n.sequence AND r.finished_at IS NULL)
        """

    /// Removes a portion of the rows about members of the notifications that will be removed next. A broadcast can have
    /// a million such rows.
    private func removeOldParts() throws(StorageError) -> Int {
        for table in DeliveryTable.memberTables {
            let delivery = try connection.first(
                """
                SELECT delivery FROM \(table.name) WHERE delivery IN (
                    SELECT id FROM deliveries WHERE notification IN (
                        SELECT n.sequence FROM notifications n WHERE \(Self.isOver) ORDER BY finished_at LIMIT ?)) LIMIT 1
                """, now + (.zero - retention.notifications), Self.limit
            ) { $0.integer(0) }
            guard let delivery else { continue }
            let removed = try connection.removePortion(
                of: table.name, "delivery", delivery, by: table.key, limit: Self.limit / table.weight)
            if ["refusals", "page_records"].contains(table.name) {
                try RefusalTable(connection).forgetRefusals(ofNotificationWith: delivery)
            }
            return removed
        }
        return 0
    }

    private func removeOldReceipts() throws(StorageError) -> Int {
        let notification = try connection.first(
            """
            SELECT notification FROM notification_receipts WHERE notification IN
                (SELECT n.sequence FROM notifications n WHERE \(Self.isOver) ORDER BY finished_at LIMIT ?) LIMIT 1
            """, now + (.zero - retention.notifications), Self.limit
        ) { $0.integer(0) }
        guard let notification else { return 0 }
        return try connection.removePortion(
            of: "notification_receipts", "notification", notification, by: "device", limit: Self.limit)
    }

    private func removeOldNotifications() throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM notifications WHERE sequence IN
                (SELECT n.sequence FROM notifications n WHERE \(Self.isOver) ORDER BY finished_at LIMIT ?)
            """, now + (.zero - retention.notifications), Self.limit)
        return connection.changes
    }
}
