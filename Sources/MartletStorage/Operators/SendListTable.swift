import MartletCore
import MartletModel

/// Lists the sends of a hub, newest first, on one connection. An index by hub and time would make every send more
/// expensive. Therefore a list scans a limited number of rows, which belong to all hubs.
struct SendListTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func page(_ query: SendQuery) throws(StorageError) -> SendPage {
        let before = try start(query.before)
        // Held sends are few. They are found with indexes, however old they are. All other sends are found by scanning
        // rows.
        let floor = query.phase == .held ? 1 : max(1, before - SendQuery.scanLimit)
        let found = try connection.all(
            Self.listing(query.phase, query.author), before, floor, query.hub.rawValue, query.platform?.rawValue,
            query.since ?? Timestamp(milliseconds: 0), query.limit, try argument(query.author, in: query.hub)
        ) { $0.integer(0) }
        let table = NotificationTable(connection)
        var entries: [SendEntry] = []
        for sequence in found {
            if let entry = try table.entry(sequence) { entries.append(entry) }
        }
        if found.count == query.limit { return SendPage(entries: entries, next: found.last, isPartial: false) }
        let hasOlder = floor > 1 ? try hasRows(before: floor) : false
        return SendPage(entries: entries, next: hasOlder ? floor : nil, isPartial: hasOlder)
    }

    /// Returns the query of a list. The plus sign before `hub` prevents SQLite from using an index whose result it
    /// would have to sort.
    static func listing(_ phase: SendQuery.Phase?, _ author: SendQuery.Author? = nil) -> String {
        """
        SELECT sequence FROM notifications
        WHERE sequence < ?1 AND sequence >= ?2 AND +hub = ?3 AND \(condition(phase))
            AND (?4 IS NULL OR platform = ?4) AND accepted_at >= ?5 AND \(condition(author))
        ORDER BY sequence DESC LIMIT ?6
        """
    }

    private static func condition(_ author: SendQuery.Author?) -> String {
        switch author {
        case nil: "?7 IS NULL"
        case .named: "author = ?7"
        case .resends: "+original IS NOT NULL AND ?7 IS NULL"
        case .resendsOf: "+original = ?7"
        }
    }

    /// Returns the value of `?7` in the query. It is nil if the query has no condition that needs a value. It is also
    /// nil for an unknown author or original. In that case no row matches, because nothing equals NULL.
    private func argument(_ author: SendQuery.Author?, in hub: Hub.ID) throws(StorageError) -> Int64? {
        switch author {
        case nil, .resends: return nil
        case .named(let author): return try AuthorTable(connection).known(author)
        case .resendsOf(let id):
            return try connection.first(
                "SELECT sequence FROM notifications WHERE hub = ? AND id = ?", hub.rawValue, id.bytes
            ) { $0.integer(0) }
        }
    }

    func targets(in hub: Hub.ID, before: Int64?, window: Int64) throws(StorageError) -> SendTargets {
        let before = try start(before)
        let floor = max(1, before - window)
        let targets = try connection.all(
            """
            SELECT sequence, id, coalesce(due_at, accepted_at), platform, expression FROM notifications
            WHERE sequence < ?1 AND sequence >= ?2 AND +hub = ?3 AND handles IS NULL AND begun_at IS NOT NULL
            ORDER BY sequence DESC
            """, before, floor, hub.rawValue
        ) { row throws(StorageError) in
            guard let id = NotificationID(bytes: row.bytes(1)) else {
                throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
            }
            return SendTarget(
                sequence: row.integer(0), id: id, at: row.timestamp(2),
                platform: StoredMessage.platform(row.optionalText(3)), expression: row.optionalText(4))
        }
        return SendTargets(targets: targets, next: try hasRows(before: floor) ? floor : nil)
    }

    /// Returns the sequence number below which a list begins. If no number is given, the result is one more than the
    /// number of the newest send.
    private func start(_ before: Int64?) throws(StorageError) -> Int64 {
        if let before { return before }
        return (try connection.first("SELECT max(sequence) FROM notifications") { $0.integer(0) } ?? 0) + 1
    }

    private func hasRows(before floor: Int64) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM notifications WHERE sequence < ? LIMIT 1", floor) { _ in true } ?? false
    }

    /// The SQL condition that a row of `notifications` is a canary that holds.
    private static let isHolding = """
        (has_parts AND EXISTS (SELECT 1 FROM rollouts r WHERE r.notification = notifications.sequence
            AND r.held_at IS NOT NULL AND r.released_at IS NULL))
        """

    private static func condition(_ phase: SendQuery.Phase?) -> String {
        switch phase {
        case nil: "1"
        case .scheduled: "begun_at IS NULL AND finished_at IS NULL"
        case .running:
            "begun_at IS NOT NULL AND finished_at IS NULL AND control = 'running' AND NOT \(isHolding)"
        case .held:
            """
            sequence IN (
                SELECT sequence FROM notifications INDEXED BY notifications_controlled
                WHERE control <> 'running' AND finished_at IS NULL
                UNION SELECT notification FROM parts INDEXED BY parts_waiting WHERE begun_at IS NULL)
            AND finished_at IS NULL AND control <> 'canceled' AND (control <> 'running' OR \(isHolding))
            """
        case .ended: "finished_at IS NOT NULL"
        }
    }

    // MARK: Tags

    func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) throws(StorageError) -> [String] {
        // Tags are ASCII, so the prefix followed by U+10FFFF sorts after every name that begins with the prefix.
        try connection.all(
            """
            SELECT DISTINCT name FROM tags WHERE hub = ?1 AND name >= ?2 AND name < ?3 AND name > ?4 AND name <> ?5
            ORDER BY name LIMIT ?6
            """, hub.rawValue, prefix, prefix + "\u{10FFFF}", last ?? "", TagTable.everyone, limit
        ) { $0.text(0) }
    }

    func tagPrefixes(in hub: Hub.ID, steps: Int) throws(StorageError) -> TagPrefixes {
        var found = TagPrefixes()
        var last = ""
        for _ in 0..<steps {
            let name = try connection.first(
                "SELECT name FROM tags WHERE hub = ? AND name > ? ORDER BY name LIMIT 1", hub.rawValue, last
            ) { $0.text(0) }
            guard let name else { return found }
            last = name
            guard name != TagTable.everyone else { continue }
            guard let colon = name.firstIndex(of: ":") else {
                found.hasPlain = true
                continue
            }
            let prefix = String(name[...colon])
            found.prefixes.append(prefix)
            // Skips all other tags with this prefix.
            last = prefix + "\u{10FFFF}"
        }
        found.isComplete = false
        return found
    }
}
