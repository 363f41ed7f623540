import MartletCore
import MartletModel

/// Notifications with their messages, counts, refusals and retries, on one connection.
struct NotificationTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func accept(_ draft: NotificationDraft) throws(StorageError) -> Notification {
        let lastChannel = try lastChannel(for: draft)
        let target = StoredTarget(draft.target)
        try connection.run(
            """
            INSERT INTO notifications (hub, id, platform, expression, handle, accepted_at, expires_at, last_channel,
                state, is_final, cursor, is_fanned_out)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0)
            """, draft.hub.rawValue, draft.id.bytes, draft.platform.rawValue, target.expression, target.handle,
            draft.acceptedAt, draft.expiresAt, lastChannel.rawValue, NotificationState.enqueued.rawValue)
        let sequence = connection.lastInsertedRow
        try connection.run(
            "INSERT INTO messages (notification, body, fields) VALUES (?, ?, ?)", sequence, draft.message.body,
            StringMapCoding.encode(draft.message.fields))
        return Notification(sequence: sequence, draft, lastChannel: lastChannel)
    }

    /// A direct send has no channel.
    private func lastChannel(for draft: NotificationDraft) throws(StorageError) -> ChannelID {
        guard case .audience = draft.target else { return .none }
        return try TagTable(connection).lastChannel(hub: draft.hub, platform: draft.platform)
    }

    func unfinishedSequences() throws(StorageError) -> [Int64] {
        try connection.all("SELECT sequence FROM notifications WHERE is_final = 0") { $0.integer(0) }
    }

    func unfinished(after sequence: Int64, limit: Int) throws(StorageError) -> [DeliveryProgress] {
        try connection.all(
            "\(Self.selection) WHERE n.is_final = 0 AND n.sequence > ? ORDER BY n.sequence LIMIT ?", sequence, limit
        ) { row throws(StorageError) in
            DeliveryProgress(
                notification: try Self.notification(row), state: try Self.state(row),
                cursor: ChannelID(rawValue: row.integer(12)), isFannedOut: row.bool(13))
        }
    }

    func report(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> NotificationReport? {
        let found = try connection.first(
            "\(Self.selection) WHERE n.hub = ? AND n.id = ?", hub.rawValue, id.bytes
        ) { row throws(StorageError) in
            NotificationReport(
                notification: try Self.notification(row), state: try Self.state(row),
                startedAt: row.optionalTimestamp(14), endedAt: row.optionalTimestamp(15), counts: [:])
        }
        guard var report = found else { return nil }
        let counts = try connection.all(
            "SELECT outcome, count FROM outcome_counts WHERE notification = ?", report.notification.sequence
        ) { row in (OutcomeName(rawValue: row.text(0)), Int(row.integer(1))) }
        report.counts = Dictionary(uniqueKeysWithValues: counts)
        return report
    }

    private static let selection = """
        SELECT n.sequence, n.hub, n.id, n.platform, n.expression, n.handle, n.accepted_at, n.expires_at,
            n.last_channel, m.body, m.fields, n.state, n.cursor, n.is_fanned_out, n.started_at, n.ended_at
        FROM notifications n JOIN messages m ON m.notification = n.sequence
        """

    private static func notification(_ row: Statement) throws(StorageError) -> Notification {
        guard let id = NotificationID(bytes: row.bytes(2)), let fields = StringMapCoding.decode(row.bytes(10)) else {
            throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
        }
        let target = StoredTarget(expression: row.optionalText(4), handle: row.optionalText(5))
        let draft = NotificationDraft(
            id: id, hub: Hub.ID(rawValue: row.integer(1)), platform: PlatformID(rawValue: row.text(3)),
            target: try target.target(), message: Message(body: row.bytes(9), fields: fields),
            acceptedAt: row.timestamp(6), expiresAt: row.timestamp(7))
        return Notification(sequence: row.integer(0), draft, lastChannel: ChannelID(rawValue: row.integer(8)))
    }

    private static func state(_ row: Statement) throws(StorageError) -> NotificationState {
        guard let state = NotificationState(rawValue: row.text(11)) else {
            throw StorageError(.corrupt, "A stored notification has an unknown state; restore a backup.")
        }
        return state
    }
}

/// The target of a notification in two columns, of which at most one is filled.
private struct StoredTarget {
    var expression: String?
    var handle: String?

    init(expression: String?, handle: String?) {
        self.expression = expression
        self.handle = handle
    }

    init(_ target: Notification.Target) {
        switch target {
        case .audience(let expression): self.init(expression: expression?.description, handle: nil)
        case .direct(let handle): self.init(expression: nil, handle: handle.text)
        }
    }

    func target() throws(StorageError) -> Notification.Target {
        if let handle { return .direct(PushHandle(text: handle)) }
        guard let expression else { return .audience(nil) }
        do throws(TagExpressionError) {
            return .audience(try TagExpression(expression, limits: Self.limits))
        } catch {
            throw StorageError(
                .corrupt, "The tag expression of a stored notification cannot be read; restore a backup.")
        }
    }

    /// What was accepted is read back whatever the limits were then.
    private static let limits = TagExpression.Limits(
        tagsInUnion: 10_000, tagsInMixed: 10_000, depth: 500, length: 10_000_000)
}

extension NotificationID {
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(bytes[..<8]), low: word(bytes[8...]))
    }
}
