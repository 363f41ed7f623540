import MartletCore
import MartletModel

/// Stores and reads notifications of one shard, from acceptance until their deliveries are made.
struct NotificationTable {
    let session: ShardSession
    let cache: NumberCache

    init(_ session: ShardSession, _ cache: NumberCache) {
        self.session = session
        self.cache = cache
    }

    // MARK: Accepting

    /// - Parameter backlogOfAll: The size of the backlog of all hubs together; nil if that size has no limit.
    func accept(_ draft: NotificationDraft, backlogOfAll: BacklogSize?) throws(StorageError) -> Acceptance {
        if let request = draft.request, let earlier = try earlier(request, at: draft.acceptedAt) { return earlier }
        if let limits = draft.backlogLimits {
            let size = try backlog()
            let excess = limits.excess(
                hub: size, all: backlogOfAll ?? size, user: try backlog(of: draft.author),
                adding: Int64(draft.content.body.count))
            if let excess { return .backlogged(excess) }
        }
        let overdue = try beginOlder(than: draft)
        let notification = Notification(sequence: try session.nextNotification(), draft)
        insert(notification, draft)
        if let request = draft.request { insert(request, draft) }
        guard draft.dueAt == nil else { return .accepted(notification, []) }
        guard !draft.laterParts.contains(where: { $0.number == 0 }) else { return .accepted(notification, overdue) }
        let threshold = StoredRollout(draft.rollout).threshold.map { UInt64(bitPattern: $0) }
        let deliveries = try makeDeliveries(of: notification, threshold: threshold)
        if deliveries.isEmpty { end(notification, hasParts: !draft.laterParts.isEmpty, at: draft.acceptedAt) }
        return .accepted(notification, overdue + deliveries)
    }

    /// Begins the hub's overdue notifications before a notification with a collapse key is accepted. A scheduled
    /// notification with a collapse key is overdue if it is due and has not begun. The order in which deliveries begin
    /// decides which is newer, so the new notification must not begin before the overdue ones.
    private func beginOlder(than draft: NotificationDraft) throws(StorageError) -> [Delivery] {
        guard draft.collapse != nil, draft.dueAt == nil else { return [] }
        let due = try due(at: draft.acceptedAt, limit: Self.overdueLimit).filter { $0.notification.collapse != nil }
        return try begin(due, at: draft.acceptedAt)
    }

    /// The maximum number of overdue notifications that begin when a notification with a collapse key is accepted.
    private static let overdueLimit = 1000

    private func insert(_ notification: Notification, _ draft: NotificationDraft) {
        let content = StoredContent(draft.content)
        let target = StoredTarget(draft.target)
        let rollout = StoredRollout(draft.rollout)
        session.run(
            """
            INSERT INTO notifications (shard, sequence, id, platform, expression, handles, body, fields, is_confidential,
                accepted_at, due_at, expires_at, states_expiry, collapse, begun_at, original, original_outcome, rank,
                author, has_parts, rate, duration, halt_share, halt_answers, sample_size, sample_share, sample_threshold,
                wait)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                $23, $24, $25, $26, $27, $28)
            """, notification.sequence, draft.id.bytes, content.platform, target.expression, target.handles,
            content.body, content.fields, draft.isConfidential, draft.acceptedAt, draft.dueAt, draft.expiresAt,
            draft.statesExpiry, draft.collapse?.stored, draft.dueAt == nil ? draft.acceptedAt : nil,
            draft.resend?.original, draft.resend?.outcome?.rawValue, draft.resend?.rank?.rawValue,
            (draft.author?.description).map { ByteText($0) }, !draft.laterParts.isEmpty, rollout.rate,
            rollout.duration, rollout.haltShare, rollout.haltAnswers, rollout.sampleSize, rollout.sampleShare,
            rollout.threshold, rollout.wait)
        PartTable(session).insert(draft.laterParts, of: notification.sequence)
        BacklogTable.add(1, Int64(content.body.count), session)
    }

    private func backlog() throws(StorageError) -> BacklogSize {
        try session.first("SELECT notifications, bytes FROM backlogs WHERE shard = $1") { row in
            BacklogSize(notifications: Int(row.integer(0)), bytes: row.integer(1))
        } ?? BacklogSize(notifications: 0, bytes: 0)
    }

    /// Counts the backlog of a user in this hub; nil if the author is not a user. The count is made only when a user
    /// sends, and reads at most about as many rows as a user's share has.
    private func backlog(of author: SendAuthor?) throws(StorageError) -> BacklogSize? {
        guard let author, author.isUser else { return nil }
        return try session.first(
            """
            SELECT count(*), coalesce(sum(length(n.body)), 0) FROM notifications n
            WHERE n.shard = $1 AND n.author = $2 AND substr(n.author, 1, 5) = 'user:' AND n.finished_at IS NULL
            """, ByteText(author.description)
        ) { row in
            BacklogSize(notifications: Int(row.integer(0)), bytes: row.integer(1))
        }
    }

    // MARK: Requests

    func earlier(_ request: RequestIdentity, at now: Timestamp) throws(StorageError) -> Acceptance? {
        guard let known = try find(request, at: now) else { return nil }
        return known.fingerprint == request.fingerprint ? .repeated(known.notification) : .conflicting
    }

    private func find(
        _ request: RequestIdentity, at now: Timestamp
    ) throws(StorageError) -> (fingerprint: [UInt8], notification: NotificationID)? {
        try session.first(
            "SELECT notification, fingerprint FROM requests WHERE shard = $1 AND key = $2 AND accepted_at > $3",
            request.key, now + (.zero - RequestIdentity.lifetime)
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            let id = try columns.notificationID()
            return (fingerprint: columns.bytes(), notification: id)
        }
    }

    private func insert(_ request: RequestIdentity, _ draft: NotificationDraft) {
        session.run(
            """
            INSERT INTO requests (shard, key, fingerprint, notification, accepted_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (shard, key) DO UPDATE SET fingerprint = excluded.fingerprint,
                notification = excluded.notification, accepted_at = excluded.accepted_at
            """, request.key, request.fingerprint, draft.id.bytes, draft.acceptedAt)
    }

    // MARK: Deliveries

    /// Makes a delivery on each platform that has devices. If no platform has devices, returns an empty array, and the
    /// caller ends the notification.
    /// - Parameter threshold: The highest hash in the sample of a canary; nil until it is known.
    private func makeDeliveries(of notification: Notification, threshold: UInt64?) throws(StorageError) -> [Delivery] {
        let part =
            notification.rollout?.sample == nil ? nil : DeliveryPart(number: 0, side: .sample, threshold: threshold)
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
        let delivery = Delivery(
            id: Delivery.ID(rawValue: try session.nextDelivery()), notification: notification, platform: platform,
            bounds: bounds, part: part)
        DeliveryTable(session).insert(delivery)
        if let collapse = notification.collapse, let key = collapse.key(on: platform), notification.resend == nil,
            part?.lead == nil
        {
            CollapseTable(session).insert(delivery, collapse, key, cache.platform(platform))
        }
        return delivery
    }

    /// Returns the platforms of a notification, each with the bounds of the audience there.
    private func platforms(
        of notification: Notification
    ) throws(StorageError) -> [(PlatformID, AudienceBounds)] {
        switch (notification.content, notification.target) {
        case (.native(let platform, _), .direct): return [(platform, .none)]
        case (.native(let platform, _), .audience):
            let last = try scopes().first { $0.platform == platform && $0.kind == .native }?.lastChannel
            return [(platform, AudienceBounds(channel: last ?? .none, registration: 0))]
        case (.message(let content), _):
            return try scopes().filter { $0.kind == .native && !content.omits($0.platform) }
                .map { ($0.platform, AudienceBounds(channel: $0.lastChannel, registration: 0)) }
        case (.template, _):
            let last = try session.first("SELECT registrations FROM ordinals WHERE shard = $1") { $0.integer(0) } ?? 0
            let bounds = AudienceBounds(channel: ChannelID(rawValue: .max), registration: last)
            return try scopes().filter { $0.kind == .template }.map { ($0.platform, bounds) }
        }
    }

    struct AudienceScope {
        var platform: PlatformID
        var kind: AudienceQuery.Kind
        var lastChannel: ChannelID
    }

    /// Returns the platforms and kinds of the hub's registrations, in the order of the platforms' names. In the primary
    /// key of `registrations`, platform and kind (`Scope`) follow the shard, so each scope is found by one look-up.
    func scopes() throws(StorageError) -> [AudienceScope] {
        let found = try session.all(
            """
            WITH RECURSIVE s (scope) AS (
                (SELECT a.scope FROM registrations a WHERE a.shard = $1 ORDER BY a.scope LIMIT 1)
                UNION ALL
                SELECT (SELECT b.scope FROM registrations b WHERE b.shard = $1 AND b.scope > s.scope
                    ORDER BY b.scope LIMIT 1)
                FROM s WHERE s.scope IS NOT NULL
            )
            SELECT s.scope, (SELECT c.channel FROM registrations c WHERE c.shard = $1 AND c.scope = s.scope
                ORDER BY c.channel DESC LIMIT 1)
            FROM s WHERE s.scope IS NOT NULL
            """
        ) { row throws(StorageError) in
            let scope = Scope(number: row.integer32(0))
            return AudienceScope(
                platform: try cache.knownPlatform(scope.platform), kind: scope.kind,
                lastChannel: ChannelID(rawValue: row.integer(1)))
        }
        return found.sorted { $0.platform.rawValue < $1.platform.rawValue }
    }

    // MARK: Beginning

    /// Begins the notifications and parts of this shard that are due.
    func release(due now: Timestamp, limit: Int) throws(StorageError) -> ReleasedNotifications {
        let due = try due(at: now, limit: limit)
        var deliveries = try begin(due, at: now)
        let parts = try PartTable(session).due(at: now, limit: limit)
        for (notification, part) in parts { deliveries += try begin(part, of: notification, at: now) }
        return ReleasedNotifications(count: due.count + parts.count, deliveries: deliveries)
    }

    /// Returns the scheduled notifications that begin at or before a time, in the order in which they are due.
    private func due(at now: Timestamp, limit: Int) throws(StorageError) -> [StoredNotification] {
        try session.all(
            """
            SELECT \(StoredNotification.columns) FROM notifications n
            WHERE n.shard = $1 AND n.begun_at IS NULL AND n.finished_at IS NULL AND n.due_at <= $2
                AND (n.control = 'running' OR n.expires_at <= $2)
            ORDER BY n.due_at, n.sequence LIMIT $3
            """, now, limit, read: stored)
    }

    private func begin(_ due: [StoredNotification], at now: Timestamp) throws(StorageError) -> [Delivery] {
        var deliveries: [Delivery] = []
        for found in due {
            let notification = found.notification
            markBegun(notification, at: now)
            if found.hasParts, try PartTable(session).beginsLater(notification.sequence) { continue }
            let own = try makeDeliveries(of: notification, threshold: found.threshold)
            if own.isEmpty { end(notification, hasParts: found.hasParts, at: now) }
            deliveries += own
        }
        return deliveries
    }

    /// Begins a part of a notification: makes a delivery on each platform. The rest of a canary has the audience that
    /// its sample was drawn from; any other part has the audience of the time at which it begins.
    private func begin(_ part: WaitingPart, of sequence: Int64, at now: Timestamp) throws(StorageError) -> [Delivery] {
        guard let found = try find(sequence) else { return [] }
        let notification = found.notification
        PartTable(session).markBegun(part, of: sequence, at: now)
        let table = DeliveryTable(session)
        let earlier = try table.progress(ofNotification: sequence).map(\.delivery)
        let audiences =
            part.side == .rest
            ? earlier.filter { $0.part?.side == .sample }.map { ($0.platform, $0.bounds) }
            : try platforms(of: notification)
        var deliveries: [Delivery] = []
        for (platform, bounds) in audiences where part.platform ?? platform == platform {
            let own = DeliveryPart(
                number: part.number, lead: earlier.first { $0.platform == platform }?.id, side: part.side,
                threshold: part.side == nil ? nil : found.threshold, narrowing: part.narrowing,
                expiresAt: part.deliveryExpiry(in: notification))
            deliveries.append(try insertDelivery(notification, on: platform, bounds, own))
        }
        if deliveries.isEmpty { BacklogTable.finish(sequence, .isOver(now), session) }
        return deliveries
    }

    private func markBegun(_ notification: Notification, at now: Timestamp) {
        session.run(
            "UPDATE notifications SET begun_at = $3 WHERE shard = $1 AND sequence = $2", notification.sequence, now)
    }

    /// Ends a notification for which no device was found when it began.
    private func end(_ notification: Notification, hasParts: Bool, at now: Timestamp) {
        if hasParts { PartTable(session).remove(of: notification.sequence) }
        BacklogTable.finish(notification.sequence, .at(now), session)
    }

    // MARK: Schedules

    func scheduled(_ query: ScheduleQuery) throws(StorageError) -> [ScheduledNotification] {
        let after = query.after ?? SchedulePosition(dueAt: query.from ?? Timestamp(milliseconds: 0), sequence: .min)
        let start = max(after.dueAt, query.from ?? Timestamp(milliseconds: 0))
        return try session.all(
            """
            SELECT \(StoredNotification.columns) FROM notifications n
            WHERE n.shard = $1 AND n.begun_at IS NULL AND n.finished_at IS NULL AND n.due_at >= $2
                AND (n.due_at, n.sequence) > ($3, $4) AND n.due_at < $5
            ORDER BY n.due_at, n.sequence LIMIT $6
            """, start, after.dueAt, after.sequence, query.to ?? .distantFuture, query.limit
        ) { row throws(StorageError) in
            let found = try stored(row)
            return ScheduledNotification(notification: found.notification, control: found.control)
        }
    }

    func cancel(_ id: NotificationID, at now: Timestamp) throws(StorageError) -> Cancellation {
        guard let found = try find(id) else { return .notFound }
        guard found.begunAt == nil else { return .begun }
        guard found.finishedAt == nil else { return .canceled }
        session.run(
            "UPDATE notifications SET control = 'canceled', controlled_at = $3 WHERE shard = $1 AND sequence = $2",
            found.notification.sequence, now)
        PartTable(session).remove(of: found.notification.sequence)
        BacklogTable.finish(found.notification.sequence, .at(now), session)
        return .canceled
    }

    /// Replaces a scheduled notification that has not begun. The row keeps its sequence number, so that other rows
    /// still refer to it.
    func replace(_ draft: NotificationDraft) throws(StorageError) -> Replacement {
        guard let found = try find(draft.id) else { return .notFound }
        guard found.begunAt == nil else { return .begun }
        guard found.finishedAt == nil else { return .canceled }
        let sequence = found.notification.sequence
        let content = StoredContent(draft.content)
        let target = StoredTarget(draft.target)
        let rollout = StoredRollout(draft.rollout)
        session.run(
            """
            UPDATE notifications SET platform = $3, expression = $4, handles = $5, accepted_at = $6, due_at = $7,
                expires_at = $8, is_confidential = $9, states_expiry = $10, collapse = $11, author = $12, body = $13,
                fields = $14, has_parts = $15, rate = $16, duration = $17, halt_share = $18, halt_answers = $19,
                sample_size = $20, sample_share = $21, sample_threshold = $22, wait = $23, audience = NULL, succeeded = 0,
                failed = 0, sent_at = NULL, held_at = NULL, released_at = NULL, judged_at = NULL
            WHERE shard = $1 AND sequence = $2
            """, sequence, content.platform, target.expression, target.handles, draft.acceptedAt, draft.dueAt,
            draft.expiresAt, draft.isConfidential, draft.statesExpiry, draft.collapse?.stored,
            (draft.author?.description).map { ByteText($0) }, content.body, content.fields, !draft.laterParts.isEmpty,
            rollout.rate, rollout.duration, rollout.haltShare, rollout.haltAnswers, rollout.sampleSize,
            rollout.sampleShare, rollout.threshold, rollout.wait)
        BacklogTable.add(0, Int64(content.body.count - found.notification.content.body.count), session)
        PartTable(session).remove(of: sequence)
        PartTable(session).insert(draft.laterParts, of: sequence)
        return .replaced(found.control)
    }

    // MARK: Finding

    func find(_ id: NotificationID) throws(StorageError) -> StoredNotification? {
        try session.first(
            "SELECT \(StoredNotification.columns) FROM notifications n WHERE n.shard = $1 AND n.id = $2", id.bytes,
            read: stored)
    }

    func find(_ sequence: Int64) throws(StorageError) -> StoredNotification? {
        try session.first(
            "SELECT \(StoredNotification.columns) FROM notifications n WHERE n.shard = $1 AND n.sequence = $2",
            sequence, read: stored)
    }

    private func stored(_ row: Row) throws(StorageError) -> StoredNotification {
        try StoredNotification(row, in: session.shard)
    }
}
