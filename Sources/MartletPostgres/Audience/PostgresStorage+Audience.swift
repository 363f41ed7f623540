public import MartletCore
public import MartletModel

extension PostgresStorage {
    public func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage {
        try await AudiencePages(storage: self, query: query).page()
    }

    public func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        try await AudienceCounter(storage: self, query: query).count()
    }

    public func tags(
        beginningWith prefix: String, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [Tag] {
        let batch = Batch(TagStatements.native) {
            $0.add(Shard(hub).number)
            $0.add(prefix)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).compactMap { try? Tag(rows[$0].text(0)) }
    }

    public func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        let page = try await audience(query)
        let next = page.isLast ? nil : page.stoppedAt ?? page.members.last
        guard page.count > 0, let number = try await number(of: query.platform) else {
            return TagPage(tags: [], next: next)
        }
        let batch = Batch(TagStatements.ofChannels) {
            $0.add(Shard(query.hub).number)
            $0.add([Scope(platform: number, .native).number, Scope(platform: number, .template).number])
            $0.add(Array(Set(page.members.map(\.channel.rawValue))))
            $0.add(query.now)
            $0.add(prefix.lowercased())
        }
        let rows = try await readPage(batch)[0]
        return TagPage(tags: Set((0..<rows.count).compactMap { try? Tag(rows[$0].text(0)) }), next: next)
    }
}

enum TagStatements {
    /// A row of `tags` is kept when the last registration with the tag is gone. Therefore the query looks in the index
    /// for a registration that has the tag.
    static let native = Statement.hot(
        [.int4, .text, .int8],
        """
        SELECT t.name FROM tags t
        WHERE t.shard = $1 AND t.name >= $2 AND starts_with(t.name, $2) AND t.scope % 2 = 0
            AND EXISTS (SELECT 1 FROM registrations r WHERE r.shard = $1 AND r.tags @> ARRAY[t.id])
        GROUP BY t.name ORDER BY t.name LIMIT $3
        """)

    static let ofChannels = Statement.hot(
        [.int4, .int4s, .int8s, .int8, .text],
        """
        SELECT DISTINCT t.name FROM registrations r CROSS JOIN unnest(r.tags) u (id)
            JOIN tags t ON t.shard = $1 AND t.id = u.id
        WHERE r.shard = $1 AND r.scope = ANY($2) AND r.channel = ANY($3)
            AND (r.expires_at IS NULL OR r.expires_at > $4) AND starts_with(t.name, $5)
        """)

    /// The tags of one scope that name a language.
    static let languages = Statement.hot(
        [.int4, .int4, .text],
        """
        SELECT t.id, t.name FROM tags t
        WHERE t.shard = $1 AND t.name >= $3 AND starts_with(t.name, $3) AND t.scope = $2 ORDER BY t.name
        """)

    static let speakers = Statement.hot(
        [.int4, .int4, .int8s, .int8s],
        """
        SELECT r.channel, u.id FROM registrations r CROSS JOIN unnest(r.tags) u (id)
        WHERE r.shard = $1 AND r.scope = $2 AND r.channel = ANY($3) AND u.id = ANY($4)
        """)
}
