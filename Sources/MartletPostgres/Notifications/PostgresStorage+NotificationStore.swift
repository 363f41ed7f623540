public import MartletCore
public import MartletModel

extension PostgresStorage: NotificationStore {
    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        try await accept(draft, backlogOfAll: draft.backlogLimits == nil ? nil : try await backlogOfAll())
    }

    /// Returns the size of the backlog of all hubs in this database together.
    func backlogOfAll() async throws(StorageError) -> BacklogSize {
        let rows = try await read(Batch(NotificationStatements.backlog))[0]
        guard rows.count == 1 else { return BacklogSize(notifications: 0, bytes: 0) }
        return BacklogSize(notifications: Int(rows[0].integer(0)), bytes: rows[0].integer(1))
    }

    /// - Parameter all: The backlog of all hubs together, of each cluster; nil if it has no limit. It may be slightly
    ///   out of date, because it is read before the transaction that uses it.
    func accept(
        _ draft: NotificationDraft, backlogOfAll all: BacklogSize?
    ) async throws(StorageError) -> Acceptance {
        try await prepare(draft.content, draft.collapse)
        return try await write(Shard(draft.hub), elsewhere: .acceptance(of: draft)) {
            [cache] session throws(StorageError) in
            try NotificationTable(session, cache).accept(draft, backlogOfAll: all)
        }
    }

    /// Makes sure that the platform of native content is in the cache. If the notification has collapse keys for
    /// handles, also makes sure that the platform has a number, because the number is part of a handle's hash.
    func prepare(_ content: Notification.Content, _ collapse: Collapse?) async throws(StorageError) {
        guard case .native(let platform, _) = content else { return }
        if let collapse, !collapse.handleKeys.isEmpty {
            _ = try await numbers(of: [platform])
        } else {
            _ = try await number(of: platform)
        }
    }

    public func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance? {
        let find: @Sendable (ShardSession) throws(StorageError) -> Acceptance? = {
            [cache] session throws(StorageError) in
            try NotificationTable(session, cache).earlier(request, at: now)
        }
        guard try await read(Shard(hub), find) != nil else { return nil }
        // The request may be stored on this server alone. A transaction waits until a standby has it too.
        return try await write(Shard(hub), find)
    }

    public func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        _ = try await allPlatforms()
        return try await read(Shard(hub)) { [cache] session throws(StorageError) in
            try NotificationTable(session, cache).scopes().filter { $0.kind == .native }.map(\.platform)
        }
    }

    public func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        let batch = Batch(NotificationStatements.due) {
            $0.add(time.now)
            $0.add(Int64(limit))
            $0.add(nodes.incarnation)
        }
        let rows = try await read(batch)[0]
        var released = ReleasedNotifications(count: 0, deliveries: [])
        var refusal: StorageError?
        // The shards are handled one after another, each in a transaction of its own. A shard that cannot be written does
        // not keep the next ones from beginning.
        for index in 0..<rows.count where released.count < limit {
            let left = limit - released.count
            let own: ReleasedNotifications?
            do throws(StorageError) {
                own = try await writeAsOwner(Shard(number: rows[index].integer32(0))) {
                    [cache] session throws(StorageError) in
                    try NotificationTable(session, cache).release(due: time.now, limit: left)
                }
            } catch {
                refusal = refusal ?? error
                if error.kind == .closed || Task.isCancelled { break }
                continue
            }
            guard let own else { continue }
            released.count += own.count
            released.deliveries += own.deliveries
        }
        // What has begun must get to the caller, because no later call finds it.
        if released.count == 0, let refusal { throw refusal }
        return released
    }

    public func nextDue() async throws(StorageError) -> Timestamp? {
        let rows = try await read(Batch(NotificationStatements.nextDue) { $0.add(nodes.incarnation) })[0]
        return rows.count == 1 ? rows[0].optionalTimestamp(0) : nil
    }

    public func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await read(Shard(query.hub)) { [cache] session throws(StorageError) in
            try NotificationTable(session, cache).scheduled(query)
        }
    }

    public func cancel(
        _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Cancellation {
        try await write(Shard(hub), elsewhere: .cancellation) { [cache] session throws(StorageError) in
            try NotificationTable(session, cache).cancel(id, at: now)
        }
    }

    public func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        try await prepare(draft.content, draft.collapse)
        return try await write(Shard(draft.hub), elsewhere: .replacement) {
            [cache] session throws(StorageError) in
            try NotificationTable(session, cache).replace(draft)
        }
    }

    public func deliveries(
        of notification: Int64, on platform: PlatformID?
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await read(Shard(ofComposed: notification)) { session throws(StorageError) in
            try DeliveryTable(session).progress(ofNotification: notification)
                .filter { $0.delivery.platform == platform ?? $0.delivery.platform }
        }
    }

    public func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        try await read(Shard(ofComposed: delivery.id.rawValue)) { session throws(StorageError) in
            try DeliveryTable(session).handled(members, besides: delivery)
        }
    }

    public func unfinished(
        after id: Delivery.ID, limit: Int
    ) async throws(StorageError) -> [DeliveryProgress] {
        let batch = Batch(NotificationStatements.unfinished) {
            $0.add(id.rawValue)
            $0.add(Int64(limit))
            $0.add(nodes.incarnation)
        }
        let rows = try await read(batch)[0]
        var found: [DeliveryProgress] = []
        for index in 0..<rows.count {
            let shard = Shard(ofComposed: rows[index].integer(0))
            var progress = try DeliveryTable.progress(rows[index], in: shard)
            progress.hasReached = rows[index].bool(Int32(rows.columnCount - 1))
            found.append(progress)
        }
        return found
    }

    @discardableResult
    public func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        try await writeAsOwner(Shard(ofComposed: step.delivery.rawValue)) { [cache] session throws(StorageError) in
            try DeliveryTable(session).record(step, cache)
        } ?? false
    }

    public func retries(
        of delivery: Delivery.ID, due now: Timestamp, limit: Int
    ) async throws(StorageError) -> [Retry] {
        try await read(Shard(ofComposed: delivery.rawValue)) { session throws(StorageError) in
            try DeliveryTable(session).retries(of: delivery, due: now, limit: limit)
        }
    }

    public func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        guard let platform = try await number(of: delivery.platform) else { return Successors() }
        return try await read(Shard(ofComposed: delivery.id.rawValue), isConsistent: true) {
            session throws(StorageError) in
            try SuccessorTable(session, delivery, platform: platform, at: now)
                .successors(of: absent, present: present)
        }
    }

    public func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        try await read(Shard(ofComposed: delivery.rawValue)) { session throws(StorageError) in
            try DeliveryTable(session).nextRetry(of: delivery)
        }
    }

    public func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        // This runs only if the clock was set back, which is rare, so one statement may change all hubs of this node.
        try await transaction { [nodes] connection, patience throws(DatabaseFailure) in
            let batch = Batch(NotificationStatements.expedite) {
                $0.add(timestamp)
                $0.add(amount.wholeMilliseconds)
                $0.add(nodes.incarnation)
            }
            _ = try connection.run(batch, patience)
        }
    }

    public func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int {
        try await writeAsOwner(Shard(hub)) { session throws(StorageError) in
            try session.changes(
                """
                UPDATE retries SET due_at = $2 WHERE shard = $1 AND ctid = ANY(ARRAY(
                    SELECT r.ctid FROM deliveries d JOIN retries r ON r.shard = $1 AND r.delivery = d.id
                    WHERE d.shard = $1 AND NOT d.is_final AND r.due_at > $2 AND r.outcome = $3 LIMIT $4))
                """, now, outcome.rawValue, limit)
        } ?? 0
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await status(id, in: hub)?.report
    }

    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        try await read(Shard(hub), isConsistent: true) { session throws(StorageError) in
            try RefusalTable(session).page(of: id, after: position, limit: limit)
        }
    }

    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await read(Shard(hub)) { session throws(StorageError) in
            try RefusalTable(session).notifications(after: id, limit: limit)
        }
    }

    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        guard let platform = try await number(of: query.platform) else { return Superseded() }
        return try await read(Shard(query.hub), isConsistent: true) { session throws(StorageError) in
            try SupersededDevices(session, query, platform: platform).find()
        }
    }

    public func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError) {
        _ = try await writeAsOwner(Shard(hub)) { session throws(StorageError) in
            CollapseTable(session).remove(delivery)
        }
    }
}

/// The statements that read from all hubs of a node, at its start and by timers. Hubs that are being removed have no
/// row in `send_ordinals`, and are left out.
enum NotificationStatements {
    static let backlog = Statement.rare(
        [],
        """
        SELECT coalesce(sum(b.notifications), 0)::int8, coalesce(sum(b.bytes), 0)::int8
        FROM backlogs b JOIN send_ordinals o ON o.shard = b.shard WHERE o.moving = 0
        """)

    private static let partIsWaiting = """
        p.begun_at IS NULL AND EXISTS (SELECT 1 FROM notifications n WHERE n.shard = p.shard AND n.sequence = p.notification
            AND n.begun_at IS NOT NULL AND n.finished_at IS NULL)
        """

    private static let isHolding = """
        held_at IS NOT NULL AND wait IS NOT NULL AND released_at IS NULL AND judged_at IS NULL
        """

    /// Returns the SQL condition that a node owns the shard of a table's row.
    private static func isOwn(_ table: String, _ node: String) -> String {
        "EXISTS (SELECT 1 FROM send_ordinals o WHERE o.shard = \(table).shard AND o.node = \(node))"
    }

    /// Finds the shards with a notification or a part that is due, the earliest due time first.
    static let due = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT d.shard FROM (
            (SELECT n.shard, n.due_at AS at FROM notifications n
            WHERE n.begun_at IS NULL AND n.finished_at IS NULL AND n.due_at <= $1
                AND (n.control = 'running' OR n.expires_at <= $1) AND \(isOwn("n", "$3"))
            ORDER BY n.due_at LIMIT $2)
            UNION ALL
            (SELECT p.shard, coalesce(p.due_at, p.expires_at) FROM parts p
            WHERE coalesce(p.due_at, p.expires_at) <= $1 AND \(partIsWaiting) AND \(isOwn("p", "$3"))
            ORDER BY coalesce(p.due_at, p.expires_at) LIMIT $2)) d
        GROUP BY d.shard ORDER BY min(d.at)
        """)

    static let nextDue = Statement.rare(
        [.int8],
        """
        SELECT min(d.at) FROM (
            (SELECT n.due_at AS at FROM notifications n
            WHERE n.begun_at IS NULL AND n.finished_at IS NULL AND n.control = 'running' AND \(isOwn("n", "$1"))
            ORDER BY n.due_at LIMIT 1)
            UNION ALL
            SELECT greatest(n.due_at, n.expires_at) FROM notifications n
            WHERE n.control <> 'running' AND n.begun_at IS NULL AND n.finished_at IS NULL AND \(isOwn("n", "$1"))
            UNION ALL
            (SELECT coalesce(p.due_at, p.expires_at) FROM parts p WHERE \(partIsWaiting) AND \(isOwn("p", "$1"))
            ORDER BY coalesce(p.due_at, p.expires_at) LIMIT 1)
            UNION ALL
            (SELECT n.held_at + n.wait FROM notifications n
            WHERE \(isHolding) AND n.control = 'running' AND n.finished_at IS NULL AND \(isOwn("n", "$1"))
            ORDER BY n.held_at + n.wait LIMIT 1)) d
        """)

    static let canariesDue = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT n.shard, n.sequence, n.id FROM notifications n JOIN send_ordinals o ON o.shard = n.shard
        WHERE \(isHolding) AND n.control = 'running' AND n.finished_at IS NULL AND n.held_at + n.wait <= $1
            AND o.node = $3
        ORDER BY n.held_at + n.wait LIMIT $2
        """)

    /// Finds the shards with holding canaries whose times must be corrected after the clock was set back.
    static let holding = Statement.rare(
        [.int8, .int8],
        """
        SELECT n.shard FROM notifications n JOIN send_ordinals o ON o.shard = n.shard
        WHERE n.held_at + n.wait > $1 AND n.released_at IS NULL AND n.finished_at IS NULL
            AND (n.held_at > $1 OR n.judged_at IS NOT NULL) AND o.node = $2
        UNION
        SELECT p.shard FROM parts p JOIN send_ordinals o ON o.shard = p.shard
        WHERE p.begun_at IS NULL AND coalesce(p.due_at, p.expires_at) > $1 AND p.due_at > $1 AND o.node = $2
        """)

    static let controlled = Statement.rare(
        [.int8],
        """
        SELECT n.shard, n.sequence, n.control FROM notifications n JOIN send_ordinals o ON o.shard = n.shard
        WHERE n.control <> 'running' AND n.finished_at IS NULL AND o.node = $1
        """)

    static let unfinished = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT \(DeliveryTable.progressColumns),
            EXISTS (SELECT 1 FROM reached r WHERE r.shard = d.shard AND r.delivery = d.id)
        FROM deliveries d JOIN send_ordinals o ON o.shard = d.shard
            JOIN notifications n ON n.shard = d.shard AND n.sequence = d.notification
        WHERE NOT d.is_final AND d.id > $1 AND o.node = $3 ORDER BY d.id LIMIT $2
        """)

    static let expedite = Statement.rare(
        [.int8, .int8, .int8],
        """
        UPDATE retries r SET due_at = r.due_at - $2 FROM send_ordinals o
        WHERE r.due_at > $1 AND o.shard = r.shard AND o.node = $3
        """)
}
