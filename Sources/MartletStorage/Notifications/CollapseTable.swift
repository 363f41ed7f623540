import MartletCore
import MartletModel

/// Stores and reads the deliveries with collapse keys, listed by anchors, on one connection. An anchor is a tag, a
/// handle, or `*` for any device. Every device of a delivery has at least one of the delivery's anchors.
struct CollapseTable {
    private let connection: Connection

    /// The anchor of notifications that may target any device; no tag has this name.
    private static let anybody = "*"

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Adds a delivery to the list of each of its anchors.
    /// - Parameter key: The collapse key on the delivery's platform.
    func insert(_ delivery: Delivery, _ collapse: Collapse, _ key: String) throws(StorageError) {
        let (anchors, expression) = Self.anchors(of: delivery.notification.target, collapse)
        for anchor in Set(anchors) {
            try connection.run(
                """
                UPDATE collapses SET is_latest = 0
                WHERE hub = ?1 AND platform = ?2 AND key = ?3 AND anchor = ?4 AND expression = ?5
                    AND delivery = (SELECT max(delivery) FROM collapses
                        WHERE hub = ?1 AND platform = ?2 AND key = ?3 AND anchor = ?4 AND expression = ?5)
                """, delivery.notification.hub.rawValue, delivery.platform.rawValue, key, anchor, expression)
            try connection.run(
                """
                INSERT INTO collapses (hub, platform, key, anchor, expression, delivery, last_channel, is_latest)
                VALUES (?, ?, ?, ?, ?, ?, ?, 1)
                """, delivery.notification.hub.rawValue, delivery.platform.rawValue, key, anchor, expression,
                delivery.id.rawValue, delivery.bounds.channel.rawValue)
        }
    }

    func remove(_ delivery: Delivery.ID) throws(StorageError) {
        try connection.run("DELETE FROM collapses WHERE delivery = ?", delivery.rawValue)
    }

    private static func anchors(
        of target: Notification.Target, _ collapse: Collapse
    ) -> (anchors: [String], expression: String) {
        switch target {
        case .direct: (collapse.handleKeys.map(anchor(ofHandle:)), "")
        case .audience(nil): ([anybody], "")
        case .audience(let expression?):
            (expression.anchors.map { $0.map(\.folded) } ?? [anybody], expression.description)
        }
    }

    /// Returns the anchor for a handle. No tag begins with the same character.
    private static func anchor(ofHandle key: String) -> String { "=" + key }

    // MARK: Finding superseded devices

    /// Finds the deliveries with a given anchor that are later than a given delivery. Of several deliveries to the same
    /// tag expression, it finds only the latest.
    static let latest = """
        SELECT delivery, expression, last_channel FROM collapses INDEXED BY collapses_latest_by_anchor
        WHERE is_latest = 1 AND hub = ? AND platform = ? AND key = ? AND anchor = ? AND delivery > ?
        ORDER BY delivery DESC
        """

    func superseded(_ query: CollapseQuery) throws(StorageError) -> Superseded {
        guard try hasLater(query) else { return Superseded() }
        var later = Later(connection, query)
        var found = Superseded()
        switch query.devices {
        case .channels(let channels):
            let covering = try laterToSameTarget(query)
            for (index, channel) in channels.enumerated() {
                if let covering, channel <= covering.lastChannel {
                    later.record(covering)
                    found.devices.append(index)
                } else if try isSuperseded(channel, &later) {
                    found.devices.append(index)
                }
            }
        case .followed(let registrations):
            let covering = try laterToSameTarget(query)
            for (index, followed) in registrations.enumerated() {
                if let covering, followed.member <= covering.lastChannel {
                    later.record(covering)
                    found.devices.append(index)
                } else if try isSuperseded(followed, &later) {
                    found.devices.append(index)
                }
            }
        case .handleKeys(let keys):
            for (index, key) in keys.enumerated() where try isSuperseded(key, &later) { found.devices.append(index) }
        }
        if let newest = later.found.max(), try isUnfinished(newest) { found.newest = newest }
        found.unsent = try unsent(later.found, at: query.now)
        return found
    }

    private func hasLater(_ query: CollapseQuery) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM collapses INDEXED BY collapses_latest
            WHERE is_latest = 1 AND hub = ? AND platform = ? AND key = ? AND delivery > ? LIMIT 1
            """, query.hub.rawValue, query.platform.rawValue, query.key, query.delivery.rawValue
        ) { _ in true } ?? false
    }

    /// Returns the latest of the later deliveries with the same target as the query; nil if there is none. The devices
    /// of the query match this target, so the devices up to the last channel of the later delivery are superseded, and
    /// their tags need not be read.
    private func laterToSameTarget(_ query: CollapseQuery) throws(StorageError) -> Later.Audience? {
        guard case .audience = query.target else { return nil }
        let (anchors, expression) = Self.anchors(of: query.target, Collapse(key: query.key))
        guard let anchor = anchors.first else { return nil }
        return try connection.first(
            """
            SELECT delivery, last_channel FROM collapses
            WHERE hub = ? AND platform = ? AND key = ? AND anchor = ? AND expression = ? AND delivery > ?
            ORDER BY delivery DESC LIMIT 1
            """, query.hub.rawValue, query.platform.rawValue, query.key, anchor, expression, query.delivery.rawValue
        ) { row in
            Later.Audience(
                delivery: Delivery.ID(rawValue: row.integer(0)), expression: nil,
                lastChannel: ChannelID(rawValue: row.integer(1)))
        }
    }

    private func isUnfinished(_ delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM deliveries WHERE id = ? AND is_final = 0", delivery.rawValue) { _ in true }
            ?? false
    }

    /// Returns those deliveries that are canceled or expired, but not finished, and of which no page is recorded.
    private func unsent(_ deliveries: Set<Delivery.ID>, at now: Timestamp) throws(StorageError) -> [Delivery.ID] {
        var unsent: [Delivery.ID] = []
        for delivery in deliveries.sorted() {
            let isUnsent = try connection.first(
                """
                SELECT 1 FROM deliveries d JOIN notifications n ON n.sequence = d.notification
                WHERE d.id = ? AND d.is_final = 0 AND d.cursor_channel = 0 AND d.is_fanned_out = 0
                    AND (n.control = 'canceled' OR ifnull(d.expires_at, n.expires_at) <= ?)
                """, delivery.rawValue, now
            ) { _ in true }
            if isUnsent ?? false { unsent.append(delivery) }
        }
        return unsent
    }

    /// Returns true if a later delivery is for the device with a handle, directly or by its tags.
    /// - Parameter handle: The key of the handle, by which the platform compares handles.
    private func isSuperseded(_ handle: String, _ later: inout Later) throws(StorageError) -> Bool {
        if try later.isForHandle(Self.anchor(ofHandle: handle)) { return true }
        let (hub, platform) = (later.query.hub, later.query.platform)
        guard let channel = try ChannelTable(connection).id(ofKey: handle, hub: hub, platform: platform) else {
            return false
        }
        return try isInAudience(channel, &later)
    }

    /// Returns true if a later delivery is for a registration whose channel has changed since it became a member.
    /// Checks the registration's former and its current channel, because the later delivery may have found the
    /// registration at either of these channels.
    private func isSuperseded(
        _ followed: FollowedRegistration, _ later: inout Later
    ) throws(StorageError) -> Bool {
        if try isSuperseded(followed.registration.channel, &later) { return true }
        let texts = try connection.all(
            "SELECT tags FROM registrations WHERE sequence = ? AND (expires_at IS NULL OR expires_at > ?)",
            followed.registration.registration, later.query.now
        ) { $0.text(0) }
        return try isInAudience(texts, through: followed.member, &later)
    }

    private func isSuperseded(_ channel: ChannelID, _ later: inout Later) throws(StorageError) -> Bool {
        if try isInAudience(channel, &later) { return true }
        let key = try connection.first("SELECT key FROM channels WHERE id = ?", channel.rawValue) {
            StoredHandle($0, 0).text
        }
        guard let key else { return false }
        return try later.isForHandle(Self.anchor(ofHandle: key))
    }

    /// Returns true if the audience of a later delivery includes a native registration of the channel.
    private func isInAudience(_ channel: ChannelID, _ later: inout Later) throws(StorageError) -> Bool {
        let texts = try connection.all(
            """
            SELECT tags FROM registrations
            WHERE channel = ? AND template IS NULL AND (expires_at IS NULL OR expires_at > ?)
            """, channel.rawValue, later.query.now
        ) { $0.text(0) }
        return try isInAudience(texts, through: channel, &later)
    }

    /// Returns true if the audience of a later delivery includes at least one of the given registrations.
    /// - Parameters:
    ///   - texts: The tags of each registration, in their stored format.
    ///   - channel: The channel of the registrations. An audience whose last channel is lower does not include them.
    private func isInAudience(
        _ texts: [String], through channel: ChannelID, _ later: inout Later
    ) throws(StorageError) -> Bool {
        var isFound = false
        for text in texts {
            let tags = Set(try StoredRegistration.tags(text))
            for anchor in [Self.anybody] + tags.map(\.folded) {
                let newest = try later.audiences(anchor).first {
                    channel <= $0.lastChannel && $0.expression?.matches(tags) ?? true
                }
                guard let newest else { continue }
                later.record(newest)
                isFound = true
            }
        }
        return isFound
    }
}

/// Reads the audiences of later deliveries, and keeps them in memory so that the audiences of an anchor are read once.
private struct Later {
    struct Audience {
        var delivery: Delivery.ID
        /// The tag expression; nil for all devices.
        var expression: TagExpression?
        var lastChannel: ChannelID
    }

    let query: CollapseQuery
    private let connection: Connection
    private var known: [String: [Audience]] = [:]
    /// The later deliveries that were found to target a device of the query.
    private(set) var found: Set<Delivery.ID> = []

    init(_ connection: Connection, _ query: CollapseQuery) {
        self.connection = connection
        self.query = query
    }

    mutating func record(_ audience: Audience) {
        found.insert(audience.delivery)
    }

    mutating func isForHandle(_ anchor: String) throws(StorageError) -> Bool {
        guard let audience = try audiences(anchor).first else { return false }
        record(audience)
        return true
    }

    /// Returns the audiences of later deliveries with an anchor, the newest first. Of the deliveries to the same
    /// expression, only the newest is returned, because its audience includes every device of the older deliveries that
    /// still matches the expression.
    mutating func audiences(_ anchor: String) throws(StorageError) -> [Audience] {
        if let found = known[anchor] { return found }
        let found = try connection.all(
            CollapseTable.latest, query.hub.rawValue, query.platform.rawValue, query.key, anchor,
            query.delivery.rawValue
        ) { row throws(StorageError) in
            var found = Audience(
                delivery: Delivery.ID(rawValue: row.integer(0)), expression: nil,
                lastChannel: ChannelID(rawValue: row.integer(2)))
            let text = row.text(1)
            let target = try StoredTarget(expression: text.isEmpty ? nil : text, handles: nil).target()
            if case .audience(let expression) = target { found.expression = expression }
            return found
        }
        known[anchor] = found
        return found
    }
}
