public import MartletCore
import MartletModel

extension PostgresStorage: SendListStore {
    public func sends(_ query: SendQuery) async throws(StorageError) -> SendPage {
        try await read(Shard(query.hub)) { [cache] session throws(StorageError) in
            try SendListTable(session, cache).page(query)
        }
    }

    public func send(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendEntry? {
        try await read(Shard(hub)) { [cache] session throws(StorageError) in
            let table = NotificationTable(session, cache)
            return try table.find(id).map { found throws(StorageError) in try table.entry(found) }
        }
    }

    public func sendTargets(
        in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> SendTargets {
        try await read(Shard(hub)) { [cache] session throws(StorageError) in
            try SendListTable(session, cache).targets(before: before, window: window)
        }
    }
}

/// Lists the sends of a hub, newest first. An index by state or author would make every send more expensive. Therefore
/// a list scans a limited number of the hub's rows.
struct SendListTable {
    private let session: ShardSession
    private let cache: NumberCache

    init(_ session: ShardSession, _ cache: NumberCache) {
        self.session = session
        self.cache = cache
    }

    func page(_ query: SendQuery) throws(StorageError) -> SendPage {
        let first = session.shard.compose(1)
        let before = try start(query.before)
        // Held sends are few; they are found by indices, however old they are. All other sends are found by scanning
        // rows.
        let floor = query.phase == .held ? first : max(first, before - SendQuery.scanLimit)
        let author = Self.author(query.author)
        let found = try session.all(
            """
            SELECT \(StoredNotification.columns) FROM notifications n
            WHERE n.shard = $1 AND n.sequence < $2 AND n.sequence >= $3 AND \(Self.condition(query.phase))
                AND ($4 IS NULL OR n.platform = $4) AND n.accepted_at >= $5 AND \(author.condition)
                AND ($6 IS NULL OR n.author = $6)
                AND ($7 IS NULL OR n.original = (SELECT o.sequence FROM notifications o WHERE o.shard = $1 AND o.id = $7))
            ORDER BY n.sequence DESC LIMIT $8
            """, before, floor, query.platform?.rawValue, query.since ?? Timestamp(milliseconds: 0), author.name,
            author.original, query.limit
        ) { row throws(StorageError) in try StoredNotification(row, in: session.shard) }
        let table = NotificationTable(session, cache)
        var entries: [SendEntry] = []
        for notification in found { entries.append(try table.entry(notification)) }
        if found.count == query.limit {
            return SendPage(entries: entries, next: found.last?.notification.sequence, isPartial: false)
        }
        let hasOlder = floor > first ? try hasRows(before: floor) : false
        return SendPage(entries: entries, next: hasOlder ? floor : nil, isPartial: hasOlder)
    }

    func targets(before: Int64?, window: Int64) throws(StorageError) -> SendTargets {
        let before = try start(before)
        let floor = max(session.shard.compose(1), before - window)
        let targets = try session.all(
            """
            SELECT sequence, id, coalesce(due_at, accepted_at), platform, expression FROM notifications
            WHERE shard = $1 AND sequence < $2 AND sequence >= $3 AND handles IS NULL AND begun_at IS NOT NULL
            ORDER BY sequence DESC
            """, before, floor
        ) { row throws(StorageError) in
            guard let id = NotificationID(bytes: row.bytes(1)) else {
                throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
            }
            return SendTarget(
                sequence: row.integer(0), id: id, at: row.timestamp(2),
                platform: StoredContent.platform(row.optionalText(3)), expression: row.optionalText(4))
        }
        return SendTargets(targets: targets, next: try hasRows(before: floor) ? floor : nil)
    }

    /// Returns the sequence number below which a list begins. If `before` is nil, the list begins with the hub's newest
    /// send.
    private func start(_ before: Int64?) throws(StorageError) -> Int64 {
        if let before { return before }
        let newest = try session.first(
            "SELECT sequence FROM notifications WHERE shard = $1 ORDER BY sequence DESC LIMIT 1"
        ) { $0.integer(0) }
        return (newest ?? session.shard.compose(0)) + 1
    }

    private func hasRows(before floor: Int64) throws(StorageError) -> Bool {
        try session.exists("SELECT 1 FROM notifications WHERE shard = $1 AND sequence < $2 LIMIT 1", floor)
    }

    /// Returns the parts of a query for sends of an author, for resends, or for the resends of one original: an SQL
    /// condition, the author's name, and the id of the original.
    private static func author(
        _ author: SendQuery.Author?
    ) -> (condition: String, name: ByteText?, original: [UInt8]?) {
        switch author {
        case nil: ("true", nil, nil)
        case .named(let author): ("true", ByteText(author.description), nil)
        case .resends: ("n.original IS NOT NULL", nil, nil)
        case .resendsOf(let id): ("true", nil, id.bytes)
        }
    }

    /// The SQL condition that a notification `n` is a canary that holds.
    private static let isHolding = """
        (n.has_parts AND coalesce(n.sample_size, n.sample_share) IS NOT NULL AND n.held_at IS NOT NULL AND n.released_at IS NULL)
        """

    private static func condition(_ phase: SendQuery.Phase?) -> String {
        switch phase {
        case nil: "true"
        case .scheduled: "n.begun_at IS NULL AND n.finished_at IS NULL"
        case .running:
            "n.begun_at IS NOT NULL AND n.finished_at IS NULL AND n.control = 'running' AND NOT \(isHolding)"
        case .held:
            """
            n.sequence IN (
                SELECT c.sequence FROM notifications c WHERE c.shard = $1 AND c.sequence < $2 AND c.sequence >= $3
                    AND c.control <> 'running' AND c.finished_at IS NULL
                UNION SELECT p.notification FROM parts p WHERE p.shard = $1 AND p.begun_at IS NULL)
            AND n.finished_at IS NULL AND n.control <> 'canceled' AND (n.control <> 'running' OR \(isHolding))
            """
        case .ended: "n.finished_at IS NOT NULL"
        }
    }
}
