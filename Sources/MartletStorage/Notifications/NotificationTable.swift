import MartletCore
import MartletModel

/// Notifications with their messages, from acceptance to where their deliveries begin, on one connection.
struct NotificationTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func accept(_ draft: NotificationDraft) throws(StorageError) -> Acceptance {
        let requests = RequestTable(connection)
        if let request = draft.request, let known = try requests.find(request, in: draft.hub, at: draft.acceptedAt) {
            return known.fingerprint == request.fingerprint ? .repeated(known.notification) : .conflicting
        }
        if let limits = draft.backlogLimits,
            let excess = BacklogTable(connection).excess(
                of: draft.hub, adding: draft.content.body.count, limits)
        {
            return .backlogged(excess)
        }
        let notification = Notification(sequence: try insert(draft), draft)
        if let request = draft.request { try requests.insert(request, draft) }
        guard draft.dueAt == nil else { return .accepted(notification, []) }
        let deliveries = try makeDeliveries(of: notification)
        if deliveries.isEmpty { try markBegun(notification, isOver: true, at: draft.acceptedAt) }
        return .accepted(notification, deliveries)
    }

    private func insert(_ draft: NotificationDraft) throws(StorageError) -> Int64 {
        let content = StoredMessage(draft.content)
        let target = StoredTarget(draft.target)
        try connection.run(
            """
            INSERT INTO notifications (hub, id, platform, expression, handles, accepted_at, due_at, expires_at,
                is_confidential, states_expiry, collapse, original, original_outcome, rank, begun_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, draft.hub.rawValue, draft.id.bytes, content.platform, target.expression, target.handles,
            draft.acceptedAt, draft.dueAt, draft.expiresAt, draft.isConfidential, draft.statesExpiry,
            draft.collapse?.bytes, draft.resend?.original, draft.resend?.outcome?.rawValue,
            draft.resend?.rank?.rawValue, draft.dueAt == nil ? draft.acceptedAt : nil)
        let sequence = connection.lastInsertedRow
        try connection.run(
            "INSERT INTO messages (notification, body, fields) VALUES (?, ?, ?)", sequence, content.body,
            content.fields)
        if let rollout = draft.rollout { try RolloutTable(connection).insert(rollout, of: sequence) }
        return sequence
    }

    // MARK: Schedules

    private static let isWaiting = "begun_at IS NULL AND finished_at IS NULL"

    func release(due now: Timestamp, limit: Int) throws(StorageError) -> ReleasedNotifications {
        let due = try connection.all(
            """
            \(StoredNotification.selection) WHERE n.begun_at IS NULL AND n.finished_at IS NULL AND n.due_at <= ?1
                AND (n.control = 'running' OR n.expires_at <= ?1)
            ORDER BY n.due_at, n.sequence LIMIT ?2
            """, now, limit, read: StoredNotification.read)
        var deliveries: [Delivery] = []
        for notification in due {
            let own = try makeDeliveries(of: notification)
            try markBegun(notification, isOver: own.isEmpty, at: now)
            deliveries += own
        }
        return ReleasedNotifications(count: due.count, deliveries: deliveries)
    }

    func nextDue() throws(StorageError) -> Timestamp? {
        try connection.first(
            """
            SELECT min(at) FROM (
                SELECT * FROM (SELECT due_at AS at FROM notifications INDEXED BY notifications_waiting
                    WHERE \(Self.isWaiting) AND control = 'running' ORDER BY due_at LIMIT 1)
                UNION ALL
                SELECT max(due_at, expires_at) FROM notifications INDEXED BY notifications_controlled
                    WHERE control <> 'running' AND \(Self.isWaiting))
            """
        ) { $0.optionalTimestamp(0) } ?? nil
    }

    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> Cancellation {
        try connection.run(
            """
            UPDATE notifications SET finished_at = ?1, control = 'canceled', controlled_at = ?1
            WHERE hub = ?2 AND id = ?3 AND \(Self.isWaiting)
            """, now, hub.rawValue, id.bytes)
        if connection.changes == 1 { return .canceled }
        return switch try hasBegun(id, in: hub) {
        case nil: .notFound
        case true?: .begun
        case false?: .canceled
        }
    }

    /// The row keeps its place, so that what refers to the notification stays right.
    func replace(_ draft: NotificationDraft) throws(StorageError) -> Replacement {
        let content = StoredMessage(draft.content)
        let target = StoredTarget(draft.target)
        let replaced = try connection.first(
            """
            UPDATE notifications SET platform = ?, expression = ?, handles = ?, accepted_at = ?, due_at = ?,
                expires_at = ?, is_confidential = ?, states_expiry = ?, collapse = ?
            WHERE hub = ? AND id = ? AND \(Self.isWaiting) RETURNING sequence, control
            """, content.platform, target.expression, target.handles, draft.acceptedAt, draft.dueAt, draft.expiresAt,
            draft.isConfidential, draft.statesExpiry, draft.collapse?.bytes, draft.hub.rawValue, draft.id.bytes
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
        return .replaced(control)
    }

    /// nil where the hub has no notification of this id.
    private func hasBegun(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> Bool? {
        try connection.first(
            "SELECT begun_at IS NOT NULL FROM notifications WHERE hub = ? AND id = ?", hub.rawValue, id.bytes
        ) { $0.bool(0) }
    }

    /// Makes the deliveries of a notification, as far as anybody is there; without one it is over.
    private func makeDeliveries(of notification: Notification) throws(StorageError) -> [Delivery] {
        let table = DeliveryTable(connection)
        var deliveries: [Delivery] = []
        for (platform, bounds) in try platforms(of: notification) {
            let delivery = try table.insert(notification, on: platform, bounds)
            if let collapse = notification.collapse, let key = collapse.key(on: platform), notification.resend == nil {
                try CollapseTable(connection).insert(delivery, collapse, key)
            }
            deliveries.append(delivery)
        }
        return deliveries
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
        return report(found, try DeliveryTable(connection).reports(of: found.notification.sequence))
    }

    private func report(_ found: Found, _ deliveries: [DeliveryReport]) -> NotificationReport {
        guard let begunAt = found.begunAt else {
            return NotificationReport(
                found.notification, waiting: found.finishedAt == nil ? .scheduled : .canceled,
                endedAt: found.finishedAt)
        }
        return NotificationReport(
            found.notification, begunAt: begunAt, isCanceled: found.control == .canceled, deliveries)
    }

    func status(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> SendStatus? {
        guard let found = try find(id, in: hub) else { return nil }
        let deliveries = try DeliveryTable(connection).statuses(of: found.notification.sequence)
        let rollout = try RolloutTable(connection).status(of: found.notification.sequence)
        return SendStatus(
            report: report(found, deliveries.map(\.report)), control: found.control,
            controlledAt: found.controlledAt, audience: rollout?.audience,
            countedFrom: rollout?.countedFrom ?? SendCounts(), deliveries: deliveries)
    }

    func traced(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> TracedNotification? {
        guard let found = try find(id, in: hub) else { return nil }
        return TracedNotification(
            notification: found.notification, begunAt: found.begunAt, control: found.control,
            controlledAt: found.controlledAt,
            deliveries: try DeliveryTable(connection).progress(ofNotification: found.notification.sequence))
    }

    struct Found {
        var notification: Notification
        var begunAt: Timestamp?
        var finishedAt: Timestamp?
        var control: NotificationControl
        var controlledAt: Timestamp?
    }

    func find(_ id: NotificationID, in hub: Hub.ID) throws(StorageError) -> Found? {
        try connection.first(
            "\(StoredNotification.selection) WHERE n.hub = ? AND n.id = ?", hub.rawValue, id.bytes
        ) { row throws(StorageError) in
            Found(
                notification: try StoredNotification.read(row), begunAt: row.optionalTimestamp(11),
                finishedAt: row.optionalTimestamp(12), control: try StoredNotification.control(row),
                controlledAt: row.optionalTimestamp(15))
        }
    }
}
