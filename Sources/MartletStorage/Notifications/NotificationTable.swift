import MartletCore
import MartletModel

/// Stores and reads notifications with their messages, on one connection. Makes the deliveries of a notification when
/// the notification or one of its parts begins.
struct NotificationTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func accept(_ draft: NotificationDraft) throws(StorageError) -> Acceptance {
        if let request = draft.request, let earlier = try earlier(request, in: draft.hub, at: draft.acceptedAt) {
            return earlier
        }
        if let limits = draft.backlogLimits,
            let excess = try BacklogTable(connection).excess(of: draft, limits)
        {
            return .backlogged(excess)
        }
        let overdue = try beginOlder(than: draft)
        let notification = Notification(sequence: try insert(draft), draft)
        if let request = draft.request { try RequestTable(connection).insert(request, draft) }
        guard draft.dueAt == nil else { return .accepted(notification, []) }
        guard !draft.laterParts.contains(where: { $0.number == 0 }) else { return .accepted(notification, overdue) }
        let deliveries = try makeDeliveries(of: notification)
        if deliveries.isEmpty { try end(notification, hasParts: !draft.laterParts.isEmpty, at: draft.acceptedAt) }
        return .accepted(notification, overdue + deliveries)
    }

    func earlier(_ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> Acceptance? {
        guard let known = try RequestTable(connection).find(request, in: hub, at: now) else { return nil }
        return known.fingerprint == request.fingerprint ? .repeated(known.notification) : .conflicting
    }

    /// Begins the hub's overdue notifications before a notification with a collapse key is accepted. A scheduled
    /// notification with a collapse key is overdue if it is due and has not begun, because the process was suspended or
    /// the disk was full. The order in which deliveries begin decides which is newer, so the new notification must not
    /// begin before the overdue ones.
    private func beginOlder(than draft: NotificationDraft) throws(StorageError) -> [Delivery] {
        guard draft.collapse != nil, draft.dueAt == nil else { return [] }
        let due = try due(
            at: draft.acceptedAt, limit: Self.overdueLimit, Self.isOfHubWithKey, draft.hub.rawValue)
        return try begin(due, at: draft.acceptedAt)
    }

    static let isOfHubWithKey = "n.hub = ?3 AND n.collapse IS NOT NULL"

    /// The maximum number of overdue notifications that begin when a notification with a collapse key is accepted.
    private static let overdueLimit = 1000

    private func insert(_ draft: NotificationDraft) throws(StorageError) -> Int64 {
        let content = StoredMessage(draft.content)
        let target = StoredTarget(draft.target)
        try connection.run(
            """
            INSERT INTO notifications (hub, id, platform, expression, handles, accepted_at, due_at, expires_at,
                is_confidential, states_expiry, collapse, original, original_outcome, rank, begun_at, author)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, draft.hub.rawValue, draft.id.bytes, content.platform, target.expression, target.handles,
            draft.acceptedAt, draft.dueAt, draft.expiresAt, draft.isConfidential, draft.statesExpiry,
            draft.collapse?.bytes, draft.resend?.original, draft.resend?.outcome?.rawValue,
            draft.resend?.rank?.rawValue, draft.dueAt == nil ? draft.acceptedAt : nil,
            try number(of: draft.author, in: draft.hub))
        let sequence = connection.lastInsertedRow
        try connection.run(
            "INSERT INTO messages (notification, body, fields) VALUES (?, ?, ?)", sequence, content.body,
            content.fields)
        if let rollout = draft.rollout { try RolloutTable(connection).insert(rollout, of: sequence) }
        if !draft.laterParts.isEmpty { try PartTable(connection).insert(draft.laterParts, of: sequence) }
        return sequence
    }

    private func number(of author: SendAuthor?, in hub: Hub.ID) throws(StorageError) -> Int64? {
        guard let author else { return nil }
        let number = try AuthorTable(connection).number(of: author)
        if author.isUser { BacklogTable(connection).follow(number, in: hub) }
        return number
    }

    // MARK: Schedules

    private static let isWaiting = "begun_at IS NULL AND finished_at IS NULL"

    func release(due now: Timestamp, limit: Int) throws(StorageError) -> ReleasedNotifications {
        let due = try due(at: now, limit: limit)
        var deliveries = try begin(due, at: now)
        let parts = try PartTable(connection).due(at: now, limit: limit)
        for (notification, part) in parts { deliveries += try begin(part, of: notification, at: now) }
        return ReleasedNotifications(count: due.count + parts.count, deliveries: deliveries)
    }

    private typealias Due = (notification: Notification, hasParts: Bool)

    /// Returns the scheduled notifications that are to begin at or before a time, in the order in which they are due. A
    /// paused notification is included once it has expired.
    /// - Parameters:
    ///   - condition: An SQL condition that restricts the selection further; `?3` stands for `argument`.
    private func due(
        at now: Timestamp, limit: Int, _ condition: String = "?3 = 0", _ argument: Int64 = 0
    ) throws(StorageError) -> [Due] {
        try connection.all(Self.due(condition), now, limit, argument) { row throws(StorageError) in
            (notification: try StoredNotification.read(row), hasParts: StoredNotification.hasParts(row))
        }
    }

    static func due(_ condition: String) -> String {
        """
        \(StoredNotification.waitingSelection) WHERE n.begun_at IS NULL AND n.finished_at IS NULL AND n.due_at <= ?1
            AND (n.control = 'running' OR n.expires_at <= ?1) AND \(condition)
        ORDER BY n.due_at, n.sequence LIMIT ?2
        """
    }

    private func begin(_ due: [Due], at now: Timestamp) throws(StorageError) -> [Delivery] {
        var deliveries: [Delivery] = []
        for (notification, hasParts) in due {
            try markBegun(notification, isOver: false, at: now)
            if hasParts, try PartTable(connection).beginsLater(notification.sequence) { continue }
            let own = try makeDeliveries(of: notification)
            if own.isEmpty { try end(notification, hasParts: hasParts, at: now) }
            deliveries += own
        }
        return deliveries
    }

    /// Ends a notification for which no device was found when it began.
    private func end(_ notification: Notification, hasParts: Bool, at now: Timestamp) throws(StorageError) {
        if hasParts { try PartTable(connection).remove(of: notification.sequence) }
        try markBegun(notification, isOver: true, at: now)
    }

    /// Begins a part of a notification: makes a delivery on each platform. The rest of a canary has the audience that
    /// its sample was drawn from; any other part has the audience of the time at which it begins.
    private func begin(_ part: WaitingPart, of sequence: Int64, at now: Timestamp) throws(StorageError) -> [Delivery] {
        guard let notification = try find(sequence) else { return [] }
        try PartTable(connection).markBegun(part, of: sequence, at: now)
        let table = DeliveryTable(connection)
        let audiences =
            part.side == .rest
            ? try table.progress(ofNotification: sequence).map(\.delivery).filter { $0.part?.side == .sample }
                .map { ($0.platform, $0.bounds) }
            : try platforms(of: notification)
        let threshold = part.side == nil ? nil : try RolloutTable(connection).record(of: sequence)?.threshold
        var deliveries: [Delivery] = []
        for (platform, bounds) in audiences where part.platform ?? platform == platform {
            let own = DeliveryPart(
                number: part.number, lead: try table.lead(of: sequence, on: platform), side: part.side,
                threshold: threshold, narrowing: part.narrowing,
                expiresAt: part.deliveryExpiry(in: notification))
            deliveries.append(try insertDelivery(notification, on: platform, bounds, own))
        }
        if deliveries.isEmpty { try finishIfOver(notification, at: now) }
        return deliveries
    }

    /// Finishes a notification if all its deliveries are finished and none of its parts waits.
    private func finishIfOver(_ notification: Notification, at now: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET finished_at = ?1 WHERE sequence = ?2
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notification = ?2 AND is_final = 0)
                AND NOT EXISTS (SELECT 1 FROM parts WHERE notification = ?2 AND begun_at IS NULL)
            """, now, notification.sequence)
    }

    func nextDue() throws(StorageError) -> Timestamp? {
        try connection.first(
            """
            SELECT min(at) FROM (
                SELECT * FROM (SELECT due_at AS at FROM notifications INDEXED BY notifications_waiting
                    WHERE \(Self.isWaiting) AND control = 'running' ORDER BY due_at LIMIT 1)
                UNION ALL
                SELECT max(due_at, expires_at) FROM notifications INDEXED BY notifications_controlled
                    WHERE control <> 'running' AND \(Self.isWaiting)
                UNION ALL SELECT * FROM (\(PartTable.nextDue))
                UNION ALL SELECT * FROM (\(RolloutTable.nextCanaryDue)))
            """
        ) { $0.optionalTimestamp(0) } ?? nil
    }

    func scheduled(_ query: ScheduleQuery) throws(StorageError) -> [ScheduledNotification] {
        let after = query.after ?? SchedulePosition(dueAt: query.from ?? Timestamp(milliseconds: 0), sequence: .min)
        let start = max(after.dueAt, query.from ?? Timestamp(milliseconds: 0))
        return try connection.all(
            """
            \(StoredNotification.waitingSelection) WHERE n.hub = ?1 AND n.begun_at IS NULL AND n.finished_at IS NULL
                AND n.due_at >= ?2 AND (n.due_at, n.sequence) > (?3, ?4) AND n.due_at < ?5
            ORDER BY n.due_at, n.sequence LIMIT ?6
            """, query.hub.rawValue, start, after.dueAt, after.sequence, query.to ?? .distantFuture, query.limit
        ) { row throws(StorageError) in
            ScheduledNotification(
                notification: try StoredNotification.read(row), control: try StoredNotification.control(row))
        }
    }

    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> Cancellation {
        try connection.run(
            """
            UPDATE notifications SET finished_at = ?1, control = 'canceled', controlled_at = ?1
            WHERE hub = ?2 AND id = ?3 AND \(Self.isWaiting)
            """, now, hub.rawValue, id.bytes)
        if connection.changes == 1 {
            try connection.run(
                "DELETE FROM parts WHERE notification = (SELECT sequence FROM notifications WHERE hub = ? AND id = ?)",
                hub.rawValue, id.bytes)
            return .canceled
        }
        return switch try hasBegun(id, in: hub) {
        case nil: .notFound
        case true?: .begun
        case false?: .canceled
        }
    }

    /// Replaces a scheduled notification that has not begun. The row keeps its sequence number, so that other rows
    /// still refer to it.
    func replace(_ draft: NotificationDraft) throws(StorageError) -> Replacement {
        let content = StoredMessage(draft.content)
        let target = StoredTarget(draft.target)
        let replaced = try connection.first(
            """
            UPDATE notifications SET platform = ?, expression = ?, handles = ?, accepted_at = ?, due_at = ?,
                expires_at = ?, is_confidential = ?, states_expiry = ?, collapse = ?, author = ?
            WHERE hub = ? AND id = ? AND \(Self.isWaiting) RETURNING sequence, control
            """, content.platform, target.expression, target.handles, draft.acceptedAt, draft.dueAt, draft.expiresAt,
            draft.isConfidential, draft.statesExpiry, draft.collapse?.bytes,
            try number(of: draft.author, in: draft.hub), draft.hub.rawValue, draft.id.bytes
        ) { row throws(StorageError) in (row.integer(0), try ControlTable.control(row.text(1))) }
        guard let (sequence, control) = replaced else {
            return switch try hasBegun(draft.id, in: draft.hub) {
            case nil: .notFound
            case true?: .begun
            case false?: .canceled
            }
        }
        try connection.run(
            "UPDATE messages SET body = ?, fields = ? WHERE notification = ?", content.body, content.fields, sequence)
        let rollouts = RolloutTable(connection)
        try rollouts.remove(of: sequence)
        if let rollout = draft.rollout { try rollouts.insert(rollout, of: sequence) }
        let parts = PartTable(connection)
        try parts.remove(of: sequence)
        try parts.insert(draft.laterParts, of: sequence)
        return .replaced(control)
    }

    /// Returns whether a notification has begun; nil if the hub has no notification with this id.
    private func hasBegun(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> Bool? {
        try connection.first(
            "SELECT begun_at IS NOT NULL FROM notifications WHERE hub = ? AND id = ?", hub.rawValue, id.bytes
        ) { $0.bool(0) }
    }

    /// Makes a delivery on each platform that has devices. If no platform has devices, returns an empty array, and the
    /// caller ends the notification.
    private func makeDeliveries(of notification: Notification) throws(StorageError) -> [Delivery] {
        var part: DeliveryPart?
        if let rollout = notification.rollout, rollout.sample != nil {
            let threshold = try RolloutTable(connection).record(of: notification.sequence)?.threshold
            part = DeliveryPart(number: 0, side: .sample, threshold: threshold)
        }
        var deliveries: [Delivery] = []
        for (platform, bounds) in try platforms(of: notification) {
            deliveries.append(try insertDelivery(notification, on: platform, bounds, part))
        }
        return deliveries
    }

    /// Makes a delivery. Only the first delivery on a platform gets entries in `collapses`. With entries, a later part
    /// would supersede the earlier parts of its own notification.
    private func insertDelivery(
        _ notification: Notification, on platform: PlatformID, _ bounds: AudienceBounds, _ part: DeliveryPart?
    ) throws(StorageError) -> Delivery {
        let delivery = try DeliveryTable(connection).insert(notification, on: platform, bounds, part: part)
        if let collapse = notification.collapse, let key = collapse.key(on: platform), notification.resend == nil,
            part?.lead == nil
        {
            try CollapseTable(connection).insert(delivery, collapse, key)
        }
        return delivery
    }

    private func markBegun(_ notification: Notification, isOver: Bool, at now: Timestamp) throws(StorageError) {
        try connection.run(
            "UPDATE notifications SET begun_at = ?, finished_at = ? WHERE sequence = ?", now, isOver ? now : nil,
            notification.sequence)
    }

    private func platforms(
        of notification: Notification
    ) throws(StorageError) -> [(PlatformID, AudienceBounds)] {
        let tags = TagTable(connection)
        let hub = notification.hub
        switch (notification.content, notification.target) {
        case (.native(let platform, _), .direct):
            return [(platform, .none)]
        case (.native(let platform, _), .audience):
            let last = try tags.lastChannel(hub: hub, platform: platform)
            return [(platform, AudienceBounds(channel: last, registration: 0))]
        case (.message(let content), _):
            var audiences: [(PlatformID, AudienceBounds)] = []
            for platform in try tags.nativePlatforms(hub: hub) where !content.omits(platform) {
                let last = try tags.lastChannel(hub: hub, platform: platform)
                audiences.append((platform, AudienceBounds(channel: last, registration: 0)))
            }
            return audiences
        case (.template, _):
            let last = try tags.lastRegistration(hub: hub)
            let bounds = AudienceBounds(channel: ChannelID(rawValue: .max), registration: last)
            return try tags.templatePlatforms(hub: hub).map { ($0, bounds) }
        }
    }

    // MARK: Telemetry

    func report(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> NotificationReport? {
        guard let found = try find(id, in: hub) else { return nil }
        return report(
            found, try DeliveryTable(connection).reports(of: found.notification.sequence),
            waitingParts: try waitingParts(of: found))
    }

    private func report(
        _ found: Found, _ deliveries: [DeliveryReport], waitingParts: Int
    ) -> NotificationReport {
        guard let begunAt = found.begunAt else {
            return NotificationReport(
                found.notification, waiting: found.finishedAt == nil ? .scheduled : .canceled,
                endedAt: found.finishedAt)
        }
        return NotificationReport(
            found.notification, begunAt: begunAt, isCanceled: found.control == .canceled,
            hasWaitingParts: waitingParts > 0, deliveries)
    }

    private func waitingParts(of found: Found) throws(StorageError) -> Int {
        found.hasParts && found.finishedAt == nil
            ? try PartTable(connection).waitingCount(of: found.notification.sequence) : 0
    }

    func status(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> SendStatus? {
        guard let found = try find(id, in: hub) else { return nil }
        let deliveries = try DeliveryTable(connection).statuses(of: found.notification.sequence)
        let rollout = try RolloutTable(connection).status(of: found.notification.sequence)
        let waiting = try waitingParts(of: found)
        let plan = found.notification.rollout
        return SendStatus(
            report: report(found, deliveries.map(\.report), waitingParts: waiting), control: found.control,
            controlledAt: found.controlledAt, audience: rollout?.audience,
            countedFrom: rollout?.countedFrom ?? SendCounts(), deliveries: deliveries,
            canary: plan?.sample.map { sample in
                CanaryState(
                    sample: sample, wait: plan?.wait, heldAt: rollout?.heldAt, releasedAt: rollout?.releasedAt)
            }, waitingParts: waiting, origin: try AuthorTable(connection).origin(of: found.notification.sequence))
    }

    func traced(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> TracedNotification? {
        guard let found = try find(id, in: hub) else { return nil }
        return TracedNotification(
            notification: found.notification, begunAt: found.begunAt, control: found.control,
            controlledAt: found.controlledAt,
            deliveries: try DeliveryTable(connection).progress(ofNotification: found.notification.sequence),
            hasWaitingParts: try waitingParts(of: found) > 0,
            origin: try AuthorTable(connection).origin(of: found.notification.sequence))
    }

    /// Returns a notification of any hub as an entry of a list of sends.
    func entry(_ sequence: Int64) throws(StorageError) -> SendEntry? {
        let found = try connection.first(
            "\(StoredNotification.selection) WHERE n.sequence = ?", sequence, read: Self.found)
        return try found.map(entry)
    }

    func entry(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> SendEntry? {
        try find(id, in: hub).map(entry)
    }

    private func entry(_ found: Found) throws(StorageError) -> SendEntry {
        let sequence = found.notification.sequence
        let reports = try DeliveryTable(connection).reports(of: sequence)
        let waiting = try waitingParts(of: found)
        // Only a canary with a part that waits can hold.
        let rollout =
            waiting > 0 && found.notification.rollout?.sample != nil
            ? try RolloutTable(connection).status(of: sequence) : nil
        let isHolding = found.control == .running && rollout?.heldAt != nil && rollout?.releasedAt == nil
        return SendEntry(
            report: report(found, reports, waitingParts: waiting), control: found.control, isHolding: isHolding,
            goesOnAt: isHolding ? rollout?.goesOnAt : nil, origin: try AuthorTable(connection).origin(of: sequence))
    }

    struct Found {
        var notification: Notification
        var begunAt: Timestamp?
        var finishedAt: Timestamp?
        var control: NotificationControl
        var controlledAt: Timestamp?
        var hasParts: Bool
    }

    private func find(_ sequence: Int64) throws(StorageError) -> Notification? {
        try connection.first(
            "\(StoredNotification.selection) WHERE n.sequence = ?", sequence, read: StoredNotification.read)
    }

    func find(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> Found? {
        try connection.first(
            "\(StoredNotification.selection) WHERE n.hub = ? AND n.id = ?", hub.rawValue, id.bytes, read: Self.found)
    }

    private static func found(_ row: Statement) throws(StorageError) -> Found {
        Found(
            notification: try StoredNotification.read(row), begunAt: row.optionalTimestamp(11),
            finishedAt: row.optionalTimestamp(12), control: try StoredNotification.control(row),
            controlledAt: row.optionalTimestamp(15), hasParts: StoredNotification.hasParts(row))
    }
}
