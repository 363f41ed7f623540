import MartletCore
import MartletModel

/// Reads notifications from rows of the database.
enum StoredNotification {
    static let columns = """
        n.sequence, n.hub, n.id, n.platform, n.expression, n.handles, n.accepted_at, n.due_at, n.expires_at,
            m.body, m.fields, n.begun_at, n.finished_at, n.is_confidential, n.control, n.controlled_at, o.rate,
            o.duration, o.halt_share, o.halt_answers, n.states_expiry, n.collapse, n.original, n.original_outcome,
            n.rank, n.has_parts, o.sample_size, o.sample_share, o.sample_threshold, o.wait
        """
    static let columnCount: Int32 = 30
    /// The joins that the columns need, after `notifications n`.
    static let joins = """
        CROSS JOIN messages m ON m.notification = n.sequence LEFT JOIN rollouts o ON o.notification = n.sequence
        """

    /// The query that reads notifications, to be followed by conditions on `n`.
    static let selection = "SELECT \(columns) FROM notifications n \(joins)"

    /// The query that reads notifications that have not begun, to be followed by conditions on `n` that imply those of
    /// the index. With a condition on the hub, SQLite would choose the index of the ids, and read all notifications that
    /// the hub has kept.
    static let waitingSelection = "SELECT \(columns) FROM notifications n INDEXED BY notifications_waiting \(joins)"

    /// Reads a notification.
    /// - Parameter row: A row that begins with `columns`.
    static func read(_ row: Statement) throws(StorageError) -> Notification {
        guard let id = NotificationID(bytes: row.bytes(2)) else {
            throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
        }
        let content = StoredMessage(platform: row.optionalText(3), body: row.bytes(9), fields: row.bytes(10))
        let target = StoredTarget(
            expression: row.optionalText(4), handles: row.isNull(5) ? nil : row.bytes(5))
        let draft = NotificationDraft(
            id: id, hub: Hub.ID(rawValue: row.integer(1)), content: try content.content(),
            target: try target.target(), acceptedAt: row.timestamp(6), dueAt: row.optionalTimestamp(7),
            expiresAt: row.timestamp(8), statesExpiry: row.bool(20), collapse: try collapse(row, 21),
            isConfidential: row.bool(13), rollout: rollout(row),
            resend: row.optionalInteger(22).map { original in
                Resend(
                    original: original, outcome: row.optionalText(23).map { OutcomeName(rawValue: $0) },
                    rank: row.optionalInteger(24).map { Delivery.ID(rawValue: $0) })
            })
        return Notification(sequence: row.integer(0), draft)
    }

    private static func collapse(_ row: Statement, _ column: Int32) throws(StorageError) -> Collapse? {
        if row.isNull(column) { return nil }
        guard let texts = TextListCoding.decode(row.bytes(column)), let key = texts.first else {
            throw StorageError(.corrupt, "The collapse key of a stored notification cannot be read; restore a backup.")
        }
        guard key.isEmpty else { return Collapse(key: key, handleKeys: Array(texts.dropFirst())) }
        var keys: [PlatformID: String] = [:]
        for index in stride(from: 1, to: texts.count - 1, by: 2) {
            keys[PlatformID(rawValue: texts[index])] = texts[index + 1]
        }
        return Collapse(keysByPlatform: keys)
    }

    /// Reads the control of a notification.
    /// - Parameter row: A row that begins with `columns`.
    static func control(_ row: Statement) throws(StorageError) -> NotificationControl {
        try ControlTable.control(row.text(14))
    }

    private static func rollout(_ row: Statement) -> Rollout? {
        let halt =
            row.isNull(18)
            ? nil
            : Rollout.Halt(
                share: Int(row.integer(18)),
                answers: row.isNull(19) ? Rollout.Halt.commonAnswers : Int(row.integer(19)),
                statesAnswers: !row.isNull(19))
        let sample = sample(row)
        let wait: Duration? = row.isNull(29) ? nil : .milliseconds(row.integer(29))
        let pace: Rollout.Pace? =
            if !row.isNull(16) {
                .rate(Int(row.integer(16)))
            } else if !row.isNull(17) {
                .over(.milliseconds(row.integer(17)))
            } else {
                nil
            }
        guard pace != nil || sample != nil else { return nil }
        return Rollout(pace, halt: halt, sample: sample, wait: wait)
    }

    private static func sample(_ row: Statement) -> Rollout.Sample? {
        if !row.isNull(26) { return .size(Int(row.integer(26))) }
        return row.isNull(27) ? nil : .share(Int(row.integer(27)))
    }

    /// Returns true if the notification has waiting parts or had some.
    /// - Parameter row: A row that begins with `columns`.
    static func hasParts(_ row: Statement) -> Bool { row.bool(25) }

    /// Returns the threshold of a canary's sample; nil until it is known.
    /// - Parameter row: A row that begins with `columns`.
    static func threshold(_ row: Statement) -> UInt64? { row.optionalInteger(28).map { UInt64(bitPattern: $0) } }
}

extension Collapse {
    /// The collapse keys as a list of texts. If all platforms have one key, the list is this key, followed by the keys
    /// of the handles of a direct send. Otherwise it is an empty text, followed by each platform and its key.
    var bytes: [UInt8] {
        if let onlyKey { return TextListCoding.encode([onlyKey] + handleKeys) }
        let keys = keysByPlatform.sorted { $0.key.rawValue < $1.key.rawValue }
        return TextListCoding.encode([""] + keys.flatMap { [$0.key.rawValue, $0.value] })
    }
}

/// The content of a notification as it is stored in three columns. If `platform` is nil, the content is for templates.
struct StoredMessage {
    /// The value of the column `platform` for a message that all platforms render.
    static let everyPlatform = "*"

    /// Returns the only platform of a notification; nil if the notification may have several.
    /// - Parameter column: The value of the column `platform`.
    static func platform(_ column: String?) -> PlatformID? {
        column == everyPlatform ? nil : column.map { PlatformID(rawValue: $0) }
    }

    var platform: String?
    var body: [UInt8]
    var fields: [UInt8]
}

extension StoredMessage {
    init(_ content: Notification.Content) {
        switch content {
        case .native(let platform, let message):
            self.init(
                platform: platform.rawValue, body: message.body, fields: StringMapCoding.encode(message.fields))
        case .template(let properties):
            self.init(platform: nil, body: properties, fields: [])
        case .message(let content): self.init(platform: Self.everyPlatform, body: content.body, fields: [])
        }
    }

    func content() throws(StorageError) -> Notification.Content {
        guard let platform else { return .template(properties: body) }
        if platform == Self.everyPlatform {
            do throws(ComposedMessageError) {
                return .message(try ComposedContent(body))
            } catch {
                throw StorageError(.corrupt, "A stored message cannot be read; restore a backup.")
            }
        }
        guard let fields = StringMapCoding.decode(fields) else {
            throw StorageError(.corrupt, "A stored message cannot be read; restore a backup.")
        }
        return .native(PlatformID(rawValue: platform), Message(body: body, fields: fields))
    }
}

/// The target of a notification as it is stored in two columns. If both are nil, the target is all devices.
struct StoredTarget {
    var expression: String?
    var handles: [UInt8]?
}

extension StoredTarget {
    init(_ target: Notification.Target) {
        switch target {
        case .audience(let expression): self.init(expression: expression?.description, handles: nil)
        case .direct(let handles): self.init(expression: nil, handles: TextListCoding.encode(handles.map(\.text)))
        }
    }

    func target() throws(StorageError) -> Notification.Target {
        if let handles {
            guard let texts = TextListCoding.decode(handles) else {
                throw StorageError(.corrupt, "The handles of a stored notification cannot be read; restore a backup.")
            }
            return .direct(texts.map { PushHandle(text: $0) })
        }
        guard let expression else { return .audience(nil) }
        do throws(TagExpressionError) {
            return .audience(try TagExpression(expression, limits: Self.limits))
        } catch {
            throw StorageError(
                .corrupt, "The tag expression of a stored notification cannot be read; restore a backup.")
        }
    }

    /// These limits are higher than those of a send, so that an accepted notification can still be read if the limits
    /// of a send have been lowered since.
    private static let limits = TagExpression.Limits(
        tagsInUnion: 10_000, tagsInMixed: 10_000, depth: 500, length: 10_000_000)
}

extension NotificationID {
    var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(bytes[..<8]), low: word(bytes[8...]))
    }
}
