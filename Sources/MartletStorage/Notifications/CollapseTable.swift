import MartletCore
import MartletModel

/// The deliveries with collapse keys, by what whoever they are for has: a tag, a handle, or nothing in particular. On one
/// connection.
struct CollapseTable {
    private let connection: Connection

    /// The anchor of those that may be for anybody; no tag has this name.
    private static let anybody = "*"

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ delivery: Delivery, _ collapse: Collapse) throws(StorageError) {
        let (anchors, expression) = Self.anchors(of: delivery.notification.target, collapse)
        for anchor in anchors {
            try connection.run(
                """
                INSERT OR IGNORE INTO collapses (hub, platform, key, anchor, delivery, expression, last_channel)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, delivery.notification.hub.rawValue, delivery.platform.rawValue, collapse.key, anchor,
                delivery.id.rawValue, expression, delivery.bounds.channel.rawValue)
        }
    }

    func remove(_ delivery: Delivery.ID) throws(StorageError) {
        try connection.run("DELETE FROM collapses WHERE delivery = ?", delivery.rawValue)
    }

    private static func anchors(
        of target: Notification.Target, _ collapse: Collapse
    ) -> (anchors: [String], expression: String?) {
        switch target {
        case .direct: (collapse.handleKeys.map(anchor(ofHandle:)), nil)
        case .audience(nil): ([anybody], nil)
        case .audience(let expression?):
            (expression.anchors.map { $0.map(\.folded) } ?? [anybody], expression.description)
        }
    }

    /// No tag begins so.
    private static func anchor(ofHandle key: String) -> String { "=" + key }

    // MARK: Who is superseded

    func superseded(_ query: CollapseQuery) throws(StorageError) -> [Int] {
        guard try hasLater(query) else { return [] }
        var later = Later(connection, query)
        var places: [Int] = []
        switch query.devices {
        case .channels(let channels):
            for (place, channel) in channels.enumerated() where try isSuperseded(channel, &later) {
                places.append(place)
            }
        case .handleKeys(let keys):
            let table = ChannelTable(connection)
            for (place, key) in keys.enumerated() {
                var isSpared = try !later.audiences(Self.anchor(ofHandle: key)).isEmpty
                if !isSpared, let channel = try table.id(ofKey: key, hub: query.hub, platform: query.platform) {
                    isSpared = try isInAudience(channel, &later)
                }
                if isSpared { places.append(place) }
            }
        }
        return places
    }

    private func hasLater(_ query: CollapseQuery) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM collapses WHERE hub = ? AND platform = ? AND key = ? AND delivery > ? LIMIT 1",
            query.hub.rawValue, query.platform.rawValue, query.key, query.delivery.rawValue
        ) { _ in true } ?? false
    }

    private func isSuperseded(_ channel: ChannelID, _ later: inout Later) throws(StorageError) -> Bool {
        if try isInAudience(channel, &later) { return true }
        let key = try connection.first("SELECT key FROM channels WHERE id = ?", channel.rawValue) {
            StoredHandle($0, 0).text
        }
        guard let key else { return false }
        return try !later.audiences(Self.anchor(ofHandle: key)).isEmpty
    }

    /// Whether a later delivery to registrations is for one of the channel's.
    private func isInAudience(_ channel: ChannelID, _ later: inout Later) throws(StorageError) -> Bool {
        let texts = try connection.all(
            """
            SELECT tags FROM registrations
            WHERE channel = ? AND template IS NULL AND (expires_at IS NULL OR expires_at > ?)
            """, channel.rawValue, later.query.now
        ) { $0.text(0) }
        for text in texts {
            let tags = Set(try StoredRegistration.tags(text))
            for anchor in [Self.anybody] + tags.map(\.folded) {
                for audience in try later.audiences(anchor) where channel <= audience.lastChannel {
                    if audience.expression?.matches(tags) ?? true { return true }
                }
            }
        }
        return false
    }
}

/// The audiences of later deliveries by their anchors, each read once.
private struct Later {
    struct Audience {
        /// nil: everybody.
        var expression: TagExpression?
        var lastChannel: ChannelID
    }

    let query: CollapseQuery
    private let connection: Connection
    private var known: [String: [Audience]] = [:]

    init(_ connection: Connection, _ query: CollapseQuery) {
        self.connection = connection
        self.query = query
    }

    mutating func audiences(_ anchor: String) throws(StorageError) -> [Audience] {
        if let found = known[anchor] { return found }
        let found = try connection.all(
            """
            SELECT expression, max(last_channel) FROM collapses
            WHERE hub = ? AND platform = ? AND key = ? AND anchor = ? AND delivery > ? GROUP BY expression
            """, query.hub.rawValue, query.platform.rawValue, query.key, anchor, query.delivery.rawValue
        ) { row throws(StorageError) in
            let target = try StoredTarget(expression: row.optionalText(0), handles: nil).target()
            let last = ChannelID(rawValue: row.integer(1))
            guard case .audience(let expression) = target else { return Audience(expression: nil, lastChannel: last) }
            return Audience(expression: expression, lastChannel: last)
        }
        known[anchor] = found
        return found
    }
}
