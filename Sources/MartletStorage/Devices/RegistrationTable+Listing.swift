import MartletCore
import MartletModel

extension RegistrationTable {
    /// Returns one page of registrations, in the order in which they were first created.
    func page(_ query: RegistrationQuery) throws(StorageError) -> RegistrationPage {
        var (count, bytes) = (0, 0)
        // Reads one row more than the page holds. If there is none, the page is the last one.
        let found = try rows(query) { row in
            guard count < query.limit, bytes < query.byteLimit else { return true }
            count += 1
            bytes += row.registration.memoryBytes
            return false
        }
        return RegistrationPage(
            registrations: found.prefix(count).map(\.registration),
            next: found.count > count ? found.prefix(count).last?.sequence : nil)
    }

    private func rows(
        _ query: RegistrationQuery, through isPastEnd: (StoredRegistration) -> Bool
    ) throws(StorageError) -> [StoredRegistration] {
        let sql = Self.sql(for: query.filter)
        let (hub, after, limit) = (query.hub.rawValue, query.after ?? 0, query.limit + 1)
        switch query.filter {
        case .all:
            return try connection.rows(
                sql, hub, after, query.now, limit, through: isPastEnd, read: StoredRegistration.init)
        case .tag(let tag):
            return try connection.rows(
                sql, hub, after, query.now, limit, tag.folded, through: isPastEnd, read: StoredRegistration.init)
        case .handle(let platform, let key):
            return try connection.rows(
                sql, hub, after, query.now, limit, StoredHandle(key), platform?.rawValue, through: isPastEnd,
                read: StoredRegistration.init)
        }
    }

    /// Returns the SQL query of a listing. The unary plus before `r.hub` keeps SQLite from using the index on the hub.
    /// With this index, SQLite would read all registrations of the hub.
    static func sql(for filter: RegistrationQuery.Filter) -> String {
        let bounds = "r.sequence > ?2 AND (r.expires_at IS NULL OR r.expires_at > ?3)"
        let ending = "ORDER BY r.sequence LIMIT ?4"
        return switch filter {
        case .all:
            "\(StoredRegistration.selection) WHERE r.hub = ?1 AND \(bounds) \(ending)"
        case .tag:
            """
            \(StoredRegistration.selection) WHERE +r.hub = ?1 AND \(bounds) AND r.sequence IN (
                SELECT registration FROM tag_members
                WHERE tag IN (SELECT id FROM tags WHERE hub = ?1 AND name = ?5) AND registration > ?2) \(ending)
            """
        case .handle:
            """
            \(StoredRegistration.selectionByChannel) WHERE +r.hub = ?1 AND \(bounds) AND c.hub = ?1 AND c.key = ?5
                AND (?6 IS NULL OR c.platform = ?6) \(ending)
            """
        }
    }
}
