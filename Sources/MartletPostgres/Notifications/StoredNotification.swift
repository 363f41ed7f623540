import MartletCore
import MartletModel

/// A notification as it is stored in a row, with the state of its progress.
struct StoredNotification {
    var notification: Notification
    var begunAt: Timestamp?
    var finishedAt: Timestamp?
    var control: NotificationControl
    var controlledAt: Timestamp?
    var hasParts: Bool
    /// The highest hash in the sample of a canary; nil until it is known.
    var threshold: UInt64?
    var author: SendAuthor?
    var audience: Int?
    var countedFrom: SendCounts
    var heldAt: Timestamp?
    var releasedAt: Timestamp?

    var isHolding: Bool { control == .running && heldAt != nil && releasedAt == nil }
    /// When a canary that holds continues by itself; nil if it holds until it is resumed.
    var goesOnAt: Timestamp? {
        guard let heldAt, let wait = notification.rollout?.wait else { return nil }
        return heldAt + wait
    }

    var isWaiting: Bool { begunAt == nil && finishedAt == nil }
}

extension StoredNotification {
    /// The columns of a notification `n`, in the order in which they are read.
    static let columns = """
        n.sequence, n.id, n.platform, n.expression, n.handles, n.body, n.fields, n.is_confidential, n.accepted_at, n.due_at,
        n.expires_at, n.states_expiry, n.collapse, n.begun_at, n.finished_at, n.control, n.controlled_at, n.original,
        n.original_outcome, n.rank, n.author, n.has_parts, n.rate, n.duration, n.halt_share, n.halt_answers, n.sample_size,
        n.sample_share, n.sample_threshold, n.wait, n.audience, n.succeeded, n.failed, n.held_at, n.released_at
        """
    static let columnCount: Int32 = 35

    /// - Parameter row: A row that begins with `columns`.
    init(_ row: Row, in shard: Shard) throws(StorageError) {
        var columns = ColumnReader(row)
        let sequence = columns.integer()
        let id = try columns.notificationID()
        let platform = columns.optionalText()
        let target = try StoredTarget(expression: columns.optionalText(), handles: columns.optionalBytes()).target()
        let content = StoredContent(platform: platform, body: columns.bytes(), fields: columns.bytes())
        let isConfidential = columns.bool()
        var draft = NotificationDraft(
            id: id, hub: shard.hub, content: try content.content(), target: target, acceptedAt: columns.timestamp(),
            dueAt: columns.optionalTimestamp(), expiresAt: columns.timestamp(), statesExpiry: columns.bool(),
            isConfidential: isConfidential)
        draft.collapse = try columns.optionalBytes().map { bytes throws(StorageError) in try Collapse(stored: bytes) }
        begunAt = columns.optionalTimestamp()
        finishedAt = columns.optionalTimestamp()
        control = try NotificationControl(stored: columns.text())
        controlledAt = columns.optionalTimestamp()
        let original = columns.optionalInteger()
        let outcome = columns.optionalText().map { OutcomeName(rawValue: $0) }
        let rank = columns.optionalInteger().map { Delivery.ID(rawValue: $0) }
        draft.resend = original.map { Resend(original: $0, outcome: outcome, rank: rank) }
        author = columns.optionalText().flatMap { SendAuthor($0) }
        hasParts = columns.bool()
        (draft.rollout, threshold) = Self.rollout(&columns)
        audience = columns.optionalInteger().map { Int($0) }
        countedFrom = SendCounts(succeeded: Int(columns.integer()), failed: Int(columns.integer()))
        heldAt = columns.optionalTimestamp()
        releasedAt = columns.optionalTimestamp()
        notification = Notification(sequence: sequence, draft)
    }

    private static func rollout(_ columns: inout ColumnReader) -> (Rollout?, threshold: UInt64?) {
        let rate = columns.optionalInteger()
        let duration = columns.optionalInteger()
        let share = columns.optionalInteger()
        let answers = columns.optionalInteger()
        let halt = share.map { share in
            Rollout.Halt(
                share: Int(share), answers: answers.map { Int($0) } ?? Rollout.Halt.commonAnswers,
                statesAnswers: answers != nil)
        }
        let sampleSize = columns.optionalInteger()
        let sampleShare = columns.optionalInteger()
        let threshold = columns.optionalInteger().map { UInt64(bitPattern: $0) }
        let wait = columns.optionalInteger().map { Duration.milliseconds($0) }
        let pace: Rollout.Pace? =
            rate.map { .rate(Int($0)) } ?? duration.map { .over(.milliseconds($0)) }
        let sample: Rollout.Sample? = sampleSize.map { .size(Int($0)) } ?? sampleShare.map { .share(Int($0)) }
        guard pace != nil || sample != nil else { return (nil, threshold) }
        return (Rollout(pace, halt: halt, sample: sample, wait: wait), threshold)
    }
}

/// The values of a roll-out, as they are stored in the columns of its notification.
struct StoredRollout {
    var rate: Int64?
    var duration: Int64?
    var haltShare: Int64?
    var haltAnswers: Int64?
    var sampleSize: Int64?
    var sampleShare: Int64?
    var threshold: Int64?
    var wait: Int64?

    init(_ rollout: Rollout?) {
        guard let rollout else { return }
        switch rollout.pace {
        case .rate(let rate): self.rate = Int64(rate)
        case .over(let time): duration = time.wholeMilliseconds
        case nil: break
        }
        switch rollout.sample {
        case .size(let size): sampleSize = Int64(size)
        case .share(let share):
            sampleShare = Int64(share)
            threshold = Int64(bitPattern: SampleHash.threshold(ofShare: share))
        case nil: break
        }
        wait = rollout.wait?.wholeMilliseconds
        haltShare = rollout.halt.map { Int64($0.share) }
        // If the sender has not stated a number of answers, the number for a canary depends on the size of its sample,
        // so it is not stored.
        haltAnswers = rollout.halt.flatMap { $0.statesAnswers || rollout.sample == nil ? Int64($0.answers) : nil }
    }
}

extension Collapse {
    /// The collapse keys as a list of texts. If all platforms have one key, the list is this key, followed by the keys
    /// of the handles of a direct send. Otherwise it is an empty text, followed by each platform and its key.
    var stored: [UInt8] {
        if let onlyKey { return ByteList.bytes(of: [onlyKey] + handleKeys) }
        let keys = keysByPlatform.sorted { $0.key.rawValue < $1.key.rawValue }
        return ByteList.bytes(of: [""] + keys.flatMap { [$0.key.rawValue, $0.value] })
    }

    init(stored bytes: [UInt8]) throws(StorageError) {
        guard let texts = ByteListReader.texts(bytes), let key = texts.first else {
            throw StorageError.unreadable("collapse key")
        }
        guard key.isEmpty else {
            self.init(key: key, handleKeys: Array(texts.dropFirst()))
            return
        }
        var keys: [PlatformID: String] = [:]
        for index in stride(from: 1, to: texts.count - 1, by: 2) {
            keys[PlatformID(rawValue: texts[index])] = texts[index + 1]
        }
        self.init(keysByPlatform: keys)
    }
}

extension NotificationControl {
    init(stored text: String) throws(StorageError) {
        guard let control = NotificationControl(rawValue: text) else { throw StorageError.unreadable("control") }
        self = control
    }
}

/// The content of a notification in three columns. If `platform` is nil, the content is for templates.
struct StoredContent {
    /// The value of the platform's column for a message that all platforms render.
    static let everyPlatform = "*"

    var platform: String?
    var body: [UInt8]
    var fields: [UInt8]

    init(platform: String?, body: [UInt8], fields: [UInt8]) {
        self.platform = platform
        self.body = body
        self.fields = fields
    }

    init(_ content: Notification.Content) {
        switch content {
        case .native(let platform, let message):
            self.init(platform: platform.rawValue, body: message.body, fields: ByteList.bytes(of: message.fields))
        case .template(let properties): self.init(platform: nil, body: properties, fields: [])
        case .message(let content): self.init(platform: Self.everyPlatform, body: content.body, fields: [])
        }
    }

    /// Returns the only platform of a notification; nil if the notification may have several.
    /// - Parameter column: The value of the platform's column.
    static func platform(_ column: String?) -> PlatformID? {
        column == everyPlatform ? nil : column.map { PlatformID(rawValue: $0) }
    }

    func content() throws(StorageError) -> Notification.Content {
        guard let platform else { return .template(properties: body) }
        if platform == Self.everyPlatform {
            do throws(ComposedMessageError) {
                return .message(try ComposedContent(body))
            } catch {
                throw StorageError.unreadable("message")
            }
        }
        guard let fields = ByteListReader.map(fields) else { throw StorageError.unreadable("message") }
        return .native(PlatformID(rawValue: platform), Message(body: body, fields: fields))
    }
}

/// The target of a notification in two columns. If both are null, the target is all devices.
struct StoredTarget {
    var expression: String?
    var handles: [UInt8]?

    init(expression: String?, handles: [UInt8]? = nil) {
        self.expression = expression
        self.handles = handles
    }

    init(_ target: Notification.Target) {
        switch target {
        case .audience(let expression): self.init(expression: expression?.description)
        case .direct(let handles): self.init(expression: nil, handles: ByteList.bytes(of: handles.map(\.text)))
        }
    }

    func target() throws(StorageError) -> Notification.Target {
        if let handles {
            guard let texts = ByteListReader.texts(handles) else { throw StorageError.unreadable("list of handles") }
            return .direct(texts.map { PushHandle(text: $0) })
        }
        return .audience(try Self.expression(expression))
    }

    static func expression(_ text: String?) throws(StorageError) -> TagExpression? {
        guard let text else { return nil }
        do throws(TagExpressionError) {
            return try TagExpression(text, limits: limits)
        } catch {
            throw StorageError.unreadable("tag expression")
        }
    }

    /// These limits are higher than those of a send, so that an accepted notification can still be read if the limits
    /// of a send have been lowered since.
    private static let limits = TagExpression.Limits(
        tagsInUnion: 10_000, tagsInMixed: 10_000, depth: 500, length: 10_000_000)
}
