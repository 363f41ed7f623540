import MartletCore
import MartletModel

/// Stores and reads the deliveries with collapse keys, listed by anchors. An anchor is a tag, a handle, or `*` for any
/// device. Every device of a delivery has at least one of the delivery's anchors.
struct CollapseTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    /// Adds a delivery to the list of each of its anchors.
    /// - Parameters:
    ///   - key: The collapse key on the delivery's platform.
    ///   - platform: The number of the platform; only needed for a direct send.
    func insert(_ delivery: Delivery, _ collapse: Collapse, _ key: String, _ platform: Int32?) {
        var anchors: [[UInt8]] = []
        var expression = ""
        switch delivery.notification.target {
        case .direct: break
        case .audience(let target): (anchors, expression) = CollapseAnchor.anchors(of: target)
        }
        let handles = collapse.handleKeys.compactMap { key in platform.map { HandleKey(platform: $0, key: key).bytes } }
        session.run(
            """
            INSERT INTO collapses (shard, platform, key, anchor, expression, delivery, last_channel)
            SELECT $1, $2, $3, a.anchor, $4, $5, $6 FROM (
                SELECT t.anchor FROM unnest($7) t (anchor)
                UNION SELECT '\\x3d'::bytea || substr(sha256(h.key), 1, 16) FROM unnest($8) h (key)) a
            """, delivery.platform.rawValue, ByteText(key), ByteText(expression), delivery.id.rawValue,
            delivery.bounds.channel.rawValue, anchors, handles)
    }

    func remove(_ delivery: Delivery.ID) {
        session.run("DELETE FROM collapses WHERE shard = $1 AND delivery = $2", delivery.rawValue)
    }

    func hasLater(_ query: CollapseQuery) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM collapses WHERE shard = $1 AND platform = $2 AND key = $3 AND delivery > $4 LIMIT 1",
            query.platform.rawValue, ByteText(query.key), query.delivery.rawValue)
    }

    /// Returns the latest of the later deliveries with the same target as the query; nil if there is none. The devices
    /// of the query match this target, so those up to the delivery's last channel are superseded, and their tags need
    /// not be read.
    func laterToSameTarget(_ query: CollapseQuery) throws(StorageError) -> LaterAudience? {
        guard case .audience(let target) = query.target else { return nil }
        let (anchors, expression) = CollapseAnchor.anchors(of: target)
        guard let anchor = anchors.first else { return nil }
        return try session.first(
            """
            SELECT delivery, last_channel FROM collapses
            WHERE shard = $1 AND platform = $2 AND key = $3 AND anchor = $4 AND expression = $5 AND delivery > $6
            ORDER BY delivery DESC LIMIT 1
            """, query.platform.rawValue, ByteText(query.key), anchor, ByteText(expression), query.delivery.rawValue
        ) { row in
            LaterAudience(
                delivery: Delivery.ID(rawValue: row.integer(0)), expression: nil,
                lastChannel: ChannelID(rawValue: row.integer(1)))
        }
    }

    /// Returns the later deliveries of each of the given anchors, the newest first. Of the deliveries to the same
    /// expression, only the newest is returned, because its audience includes every device of the older ones that still
    /// matches. The query makes one look-up for each expression, however many deliveries there are.
    func later(
        than query: CollapseQuery, _ anchors: [[UInt8]]
    ) throws(StorageError) -> [[UInt8]: [LaterAudience]] {
        let found = try session.all(
            """
            SELECT a.anchor, l.delivery, l.expression, l.last_channel FROM unnest($5) a (anchor) CROSS JOIN LATERAL (
                WITH RECURSIVE x (expression, delivery, last_channel) AS (
                    (SELECT c.expression, c.delivery, c.last_channel FROM collapses c
                    WHERE c.shard = $1 AND c.platform = $2 AND c.key = $3 AND c.anchor = a.anchor
                    ORDER BY c.expression DESC, c.delivery DESC LIMIT 1)
                    UNION ALL
                    SELECT y.expression, y.delivery, y.last_channel FROM x CROSS JOIN LATERAL (
                        SELECT d.expression, d.delivery, d.last_channel FROM collapses d
                        WHERE d.shard = $1 AND d.platform = $2 AND d.key = $3 AND d.anchor = a.anchor
                            AND d.expression < x.expression
                        ORDER BY d.expression DESC, d.delivery DESC LIMIT 1) y
                )
                SELECT x.expression, x.delivery, x.last_channel FROM x WHERE x.delivery > $4) l
            ORDER BY l.delivery DESC
            """, query.platform.rawValue, ByteText(query.key), query.delivery.rawValue, anchors
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            let anchor = columns.bytes()
            let delivery = Delivery.ID(rawValue: columns.integer())
            let text = columns.text()
            let audience = LaterAudience(
                delivery: delivery, expression: try StoredTarget.expression(text.isEmpty ? nil : text),
                lastChannel: ChannelID(rawValue: columns.integer()))
            return (anchor, audience)
        }
        return Dictionary(grouping: found) { $0.0 }.mapValues { $0.map(\.1) }
    }

    func isUnfinished(_ delivery: Delivery.ID) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM deliveries WHERE shard = $1 AND id = $2 AND NOT is_final", delivery.rawValue)
    }

    /// Returns those deliveries that are canceled or expired, but not finished, and of which no page is recorded.
    func unsent(_ deliveries: Set<Delivery.ID>, at now: Timestamp) throws(StorageError) -> [Delivery.ID] {
        try session.all(
            """
            SELECT d.id FROM deliveries d JOIN notifications n ON n.shard = $1 AND n.sequence = d.notification
            WHERE d.shard = $1 AND d.id = ANY($2) AND NOT d.is_final AND d.cursor_channel = 0 AND NOT d.is_fanned_out
                AND (n.control = $3 OR coalesce(d.expires_at, n.expires_at) <= $4)
            ORDER BY d.id
            """, deliveries.map(\.rawValue), NotificationControl.canceled.rawValue, now
        ) { Delivery.ID(rawValue: $0.integer(0)) }
    }
}

/// The audience of a delivery that began later.
struct LaterAudience {
    var delivery: Delivery.ID
    /// The tag expression; nil for all devices.
    var expression: TagExpression?
    var lastChannel: ChannelID

    func includes(_ tags: Set<Tag>, through channel: ChannelID) -> Bool {
        channel <= lastChannel && expression?.matches(tags) ?? true
    }
}

/// Encodes anchors. No tag begins with `*` or `=`, so a tag never equals another kind of anchor.
enum CollapseAnchor {
    static let anybody = Array("*".utf8)

    static func anchors(of target: TagExpression?) -> (anchors: [[UInt8]], expression: String) {
        guard let target else { return ([anybody], "") }
        let anchors = target.anchors.map { tags in Set(tags.map(\.folded)).map { Array($0.utf8) } }
        return (anchors ?? [anybody], target.description)
    }

    /// - Parameter hash: The hash of the handle's key, as in the table `channels`.
    static func handle(_ hash: [UInt8]) -> [UInt8] { [UInt8(ascii: "=")] + hash }
}
