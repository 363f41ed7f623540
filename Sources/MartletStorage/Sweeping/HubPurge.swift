import MartletCore

/// Removes a deleted hub in portions, so that a large hub does not block other writes.
struct HubPurge {
    private let connection: Connection
    private let hub: Int64

    /// The maximum number of rows per portion.
    private static let limit = 1000

    init(_ connection: Connection, _ hub: Hub.ID) {
        self.connection = connection
        self.hub = hub.rawValue
    }

    /// Returns every hub that is marked as deleted and not yet removed.
    static func deletedHubs(_ connection: Connection) throws(StorageError) -> [Hub.ID] {
        try connection.all("SELECT id FROM hubs WHERE is_deleted = 1") { Hub.ID(rawValue: $0.integer(0)) }
    }

    /// The result of removing one portion of a hub.
    struct Portion: Sendable {
        /// True if the hub has been removed completely.
        var isLast = false
        /// The removed deliveries that were not final. Their progress maps are no longer needed.
        var unfinished: [Delivery.ID] = []
    }

    func removePortion() throws(StorageError) -> Portion {
        if try removeParts() { return Portion() }
        let unfinished = try unfinishedDeliveries()
        if try remove(from: "notifications", "sequence") { return Portion(unfinished: unfinished) }
        if try remove(from: "channels", "id") { return Portion() }
        try connection.run("DELETE FROM hubs WHERE id = ?", hub)
        return Portion(isLast: true)
    }

    /// Removes a portion of the rows that belong to devices and notifications, before the devices and notifications are
    /// removed.
    /// - Returns: Whether there was something to remove.
    private func removeParts() throws(StorageError) -> Bool {
        if try removeMembers() { return true }
        for table in ["registrations", "tombstones", "installations", "jobs"] {
            if try remove(from: table, "sequence") { return true }
        }
        if try remove(from: "registration_history", "change") { return true }
        if try remove(from: "campaigns", "id") { return true }
        if try remove(from: "former_channels", "id") { return true }
        if try remove(from: "contents", "id") { return true }
        for table in DeliveryTable.memberTables {
            if try removeParts(from: table) { return true }
        }
        if try removeReceipts() { return true }
        return try removeRequests()
    }

    /// Returns the unfinished deliveries of the notifications that this portion removes.
    private func unfinishedDeliveries() throws(StorageError) -> [Delivery.ID] {
        try connection.all(
            """
            SELECT id FROM deliveries WHERE is_final = 0 AND notification IN
                (SELECT sequence FROM notifications WHERE hub = ? LIMIT ?)
            """, hub, Self.limit
        ) { Delivery.ID(rawValue: $0.integer(0)) }
    }

    /// Removes a portion of the hub's rows from a table.
    /// - Returns: Whether there was something to remove.
    private func remove(from table: String, _ key: String) throws(StorageError) -> Bool {
        try connection.run(
            "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE hub = ? LIMIT ?)", hub, Self.limit)
        return connection.changes > 0
    }

    /// Removes a portion of the rows about members of the deliveries that are removed next. A broadcast can have a
    /// million such rows.
    /// - Returns: Whether there was something to remove.
    private func removeParts(from table: DeliveryTable.MemberTable) throws(StorageError) -> Bool {
        let delivery = try connection.first(
            """
            SELECT delivery FROM \(table.name) WHERE delivery IN
                (SELECT id FROM deliveries WHERE notification IN
                    (SELECT sequence FROM notifications WHERE hub = ? LIMIT ?)) LIMIT 1
            """, hub, Self.limit
        ) { $0.integer(0) }
        guard let delivery else { return false }
        return try connection.removePortion(
            of: table.name, "delivery", delivery, by: table.key, limit: Self.limit / table.weight) > 0
    }

    /// Removes a portion of the hub's receipts.
    /// - Returns: Whether there was something to remove.
    private func removeReceipts() throws(StorageError) -> Bool {
        let notification = try connection.first(
            """
            SELECT notification FROM notification_receipts WHERE notification IN
                (SELECT sequence FROM notifications WHERE hub = ? LIMIT ?) LIMIT 1
            """, hub, Self.limit
        ) { $0.integer(0) }
        guard let notification else { return false }
        return try connection.removePortion(
            of: "notification_receipts", "notification", notification, by: "device", limit: Self.limit) > 0
    }

    /// Removes a portion of the hub's stored requests.
    /// - Returns: Whether there was something to remove.
    private func removeRequests() throws(StorageError) -> Bool {
        try connection.run(
            """
            DELETE FROM requests WHERE (hub, key) IN (SELECT hub, key FROM requests WHERE hub = ? LIMIT ?)
            """, hub, Self.limit)
        return connection.changes > 0
    }

    /// Removes a portion of the members of one of the hub's tags, and the tag itself if it has no members left.
    private func removeMembers() throws(StorageError) -> Bool {
        let tag = try connection.first(
            "SELECT id, name, is_template, platform FROM tags WHERE hub = ? LIMIT 1", hub
        ) { row in
            (id: row.integer(0), name: row.text(1), isTemplate: row.bool(2), platform: row.text(3))
        }
        guard let tag else { return false }
        let removed = try connection.removePortion(
            of: "tag_members", "tag", tag.id, by: "channel", limit: Self.limit)
        if removed < Self.limit {
            try connection.run(
                "DELETE FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?", hub, tag.name,
                tag.isTemplate, tag.platform)
        }
        return true
    }
}
