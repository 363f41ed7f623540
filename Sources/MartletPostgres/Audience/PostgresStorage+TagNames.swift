public import MartletCore

// The names of tags, for `SendListStore`. A row of `tags` is kept when the last registration with the tag is gone.
// Therefore the queries look in the index for a registration that has the tag.
extension PostgresStorage {
    public func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [String] {
        let batch = Batch(TagNameStatements.names) {
            $0.add(Shard(hub).number)
            $0.add(prefix)
            $0.add(last ?? "")
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { rows[$0].text(0) }
    }

    public func tagPrefixes(in hub: Hub.ID, steps: Int) async throws(StorageError) -> TagPrefixes {
        let batch = Batch(TagNameStatements.prefixes) {
            $0.add(Shard(hub).number)
            $0.add(Int64(steps))
        }
        let rows = try await read(batch)[0]
        var found = TagPrefixes()
        for index in 0..<rows.count {
            let (name, isMember) = (rows[index].text(0), rows[index].bool(1))
            guard isMember else { continue }
            if let colon = name.firstIndex(of: ":") {
                found.prefixes.append(String(name[...colon]))
            } else {
                found.hasPlain = true
            }
        }
        found.isComplete = rows.count < steps
        return found
    }
}

enum TagNameStatements {
    /// Tags are ASCII, so U+10FFFF sorts after all characters of tags.
    static let names = Statement.hot(
        [.int4, .text, .text, .int8],
        """
        SELECT DISTINCT t.name FROM tags t
        WHERE t.shard = $1 AND t.name >= $2 AND t.name < $2 || U&'\\+10FFFF' AND t.name > $3
            AND EXISTS (SELECT 1 FROM registrations r WHERE r.shard = $1 AND r.tags @> ARRAY[t.id])
        ORDER BY t.name LIMIT $4
        """)

    /// Steps through the names in order. After a name that has members and a colon, all other names with the same text
    /// up to the colon are skipped.
    static let prefixes = Statement.hot(
        [.int4, .int8],
        """
        WITH RECURSIVE step AS (
            SELECT 0::int8 AS number, ''::text AS name, false AS is_member, ''::text AS bound
            UNION ALL
            SELECT s.number + 1, n.name, n.is_member,
                CASE WHEN n.is_member AND strpos(n.name, ':') > 0
                    THEN substr(n.name, 1, strpos(n.name, ':')) || U&'\\+10FFFF' ELSE n.name END
            FROM step s CROSS JOIN LATERAL (
                SELECT f.name, EXISTS (
                    SELECT 1 FROM tags o WHERE o.shard = $1 AND o.name = f.name
                        AND EXISTS (SELECT 1 FROM registrations r WHERE r.shard = $1 AND r.tags @> ARRAY[o.id])
                ) AS is_member
                FROM (SELECT t.name FROM tags t WHERE t.shard = $1 AND t.name > s.bound ORDER BY t.name LIMIT 1) f
            ) n
            WHERE s.number < $2
        )
        SELECT s.name, s.is_member FROM step s WHERE s.number > 0 ORDER BY s.number
        """)
}
