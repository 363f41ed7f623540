public import MartletCore
import MartletModel

extension PostgresStorage: CampaignStore {
    public func campaigns(
        in hub: Hub.ID, before id: Campaign.ID?, limit: Int
    ) async throws(StorageError) -> [Campaign] {
        let batch = Batch(CampaignStatements.list) {
            $0.add(Shard(hub).number)
            $0.add(id?.rawValue ?? .max)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { Campaign(rows[$0], in: hub) }
    }

    public func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        let rows = try await read(CampaignStatements.of(id, in: hub, CampaignStatements.find))[0]
        return rows.count == 1 ? Campaign(rows[0], in: hub) : nil
    }

    public func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        let shard = Shard(hub)
        return try await transaction { connection, patience throws(DatabaseFailure) in
            // With this lock, no two campaigns are added at the same time, so the maximum number of campaigns is not
            // exceeded.
            var batch = Batch(Ordinals.locking) { $0.add(shard.number) }
            batch.add(CampaignStatements.insert) {
                $0.add(shard.number)
                $0.add(text.name)
                $0.add(text.draft)
                $0.add(text.at)
                $0.add(text.author.description)
            }
            let rows = try connection.run(batch, patience)[1]
            return rows.count == 1 ? Campaign(rows[0], in: hub) : nil
        }
    }

    public func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange {
        try await transaction { connection, patience throws(DatabaseFailure) in
            let rows = try connection.run(CampaignStatements.locking(id, in: hub), patience)[1]
            guard rows.count == 1 else { return .notFound }
            let known = Campaign(rows[0], in: hub)
            guard known.send == nil else { return .sent(known) }
            guard known.version == version else { return .conflicting(known) }
            let batch = Batch(CampaignStatements.update) {
                $0.add(Shard(hub).number)
                $0.add(id.rawValue)
                $0.add(text.name)
                $0.add(text.draft)
                $0.add(text.at)
                $0.add(text.author.description)
            }
            return .changed(Campaign(try connection.run(batch, patience)[0][0], in: hub))
        }
    }

    public func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange {
        try await transaction { connection, patience throws(DatabaseFailure) in
            let rows = try connection.run(CampaignStatements.locking(id, in: hub), patience)[1]
            guard rows.count == 1 else { return .notFound }
            let known = Campaign(rows[0], in: hub)
            if let earlier = known.send { return earlier == send ? .changed(known) : .sent(known) }
            let batch = Batch(CampaignStatements.recordSend) {
                $0.add(Shard(hub).number)
                $0.add(id.rawValue)
                $0.add(send.bytes)
            }
            let changed = try connection.run(batch, patience)[0]
            return changed.count == 1 ? .changed(Campaign(changed[0], in: hub)) : .unknownSend
        }
    }

    public func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = CampaignStatements.locking(id, in: hub)
            batch.append(CampaignStatements.of(id, in: hub, CampaignStatements.remove))
            return try connection.run(batch, patience)[2].changes == 1
        }
    }
}

extension Campaign {
    fileprivate init(_ row: Row, in hub: Hub.ID) {
        self.init(
            id: ID(rawValue: row.integer(0)), hub: hub, name: row.text(1), draft: row.text(2), version: row.integer(3),
            send: row.optionalBytes(4).flatMap { NotificationID(bytes: $0) }, createdAt: row.timestamp(5),
            changedAt: row.timestamp(6), changedBy: SendAuthor(row.text(7)) ?? .administrator)
    }
}

enum CampaignStatements {
    private static let columns = "c.id, c.name, c.draft, c.version, c.send, c.created_at, c.changed_at, c.changed_by"

    static func of(_ id: Campaign.ID, in hub: Hub.ID, _ statement: Statement) -> Batch {
        Batch(statement) {
            $0.add(Shard(hub).number)
            $0.add(id.rawValue)
        }
    }

    /// Locks a campaign. The shard is locked first: if the hub has moved to another cluster, this fails, and nothing is
    /// changed here.
    static func locking(_ id: Campaign.ID, in hub: Hub.ID) -> Batch {
        var batch = Batch(Ordinals.locking) { $0.add(Shard(hub).number) }
        batch.append(of(id, in: hub, lock))
        return batch
    }

    static let list = Statement.hot(
        [.int4, .int8, .int8],
        """
        SELECT c.id, c.name, '{}'::bytea, c.version, c.send, c.created_at, c.changed_at, c.changed_by
        FROM campaigns c WHERE c.shard = $1 AND c.id < $2 ORDER BY c.id DESC LIMIT $3
        """)
    static let find = Statement.hot(
        [.int4, .int8], "SELECT \(columns) FROM campaigns c WHERE c.shard = $1 AND c.id = $2")
    static let lock = Statement.hot(
        [.int4, .int8], "SELECT \(columns) FROM campaigns c WHERE c.shard = $1 AND c.id = $2 FOR UPDATE")
    static let insert = Statement.hot(
        [.int4, .bytes, .bytes, .int8, .bytes],
        """
        WITH given AS (
            INSERT INTO campaign_numbers AS n (shard, last)
            SELECT $1, 1 FROM ordinals o WHERE o.shard = $1
                AND (SELECT count(*) FROM campaigns c WHERE c.shard = $1) < \(Campaign.countLimit)
            ON CONFLICT (shard) DO UPDATE SET last = n.last + 1 RETURNING n.last
        )
        INSERT INTO campaigns AS c (shard, id, name, draft, version, created_at, changed_at, changed_by)
        SELECT $1, g.last, $2, $3, 1, $4, $4, $5 FROM given g RETURNING \(columns)
        """)
    static let update = Statement.hot(
        [.int4, .int8, .bytes, .bytes, .int8, .bytes],
        """
        UPDATE campaigns c SET name = $3, draft = $4, version = c.version + 1, changed_at = $5, changed_by = $6
        WHERE c.shard = $1 AND c.id = $2 RETURNING \(columns)
        """)
    /// Records the notification that was sent from a campaign. Writes nothing if the hub has no such notification.
    static let recordSend = Statement.hot(
        [.int4, .int8, .bytes],
        """
        UPDATE campaigns c SET send = $3
        WHERE c.shard = $1 AND c.id = $2
            AND EXISTS (SELECT 1 FROM notifications s WHERE s.shard = $1 AND s.id = $3)
        RETURNING \(columns)
        """)
    static let remove = Statement.hot([.int4, .int8], "DELETE FROM campaigns WHERE shard = $1 AND id = $2")
}
