import MartletCore
import MartletModel

/// Stores and reads the campaigns of hubs, on one connection.
struct CampaignTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    private static func columns(draft: String = "draft") -> String {
        "id, hub, name, \(draft), version, send, created_at, changed_at, changed_by"
    }

    func all(in hub: Hub.ID, before id: Campaign.ID?, limit: Int) throws(StorageError) -> [Campaign] {
        try connection.all(
            "SELECT \(Self.columns(draft: "'{}'")) FROM campaigns WHERE hub = ? AND id < ? ORDER BY id DESC LIMIT ?",
            hub.rawValue, id?.rawValue ?? .max, limit, read: Self.campaign)
    }

    func campaign(_ id: Campaign.ID, in hub: Hub.ID) throws(StorageError) -> Campaign? {
        try connection.first(
            "SELECT \(Self.columns()) FROM campaigns WHERE id = ? AND hub = ?", id.rawValue, hub.rawValue,
            read: Self.campaign)
    }

    func add(_ text: CampaignText, in hub: Hub.ID) throws(StorageError) -> Campaign? {
        let count = try connection.first("SELECT count(*) FROM campaigns WHERE hub = ?", hub.rawValue) {
            $0.integer(0)
        }
        guard count ?? 0 < Campaign.countLimit else { return nil }
        try connection.run(
            """
            INSERT INTO campaigns (hub, name, draft, version, created_at, changed_at, changed_by)
            VALUES (?, ?, ?, 1, ?, ?, ?)
            """, hub.rawValue, text.name, text.draft, text.at, text.at, text.author.description)
        return try campaign(Campaign.ID(rawValue: connection.lastInsertedRow), in: hub)
    }

    func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) throws(StorageError) -> CampaignChange {
        guard let known = try campaign(id, in: hub) else { return .notFound }
        guard known.send == nil else { return .sent(known) }
        guard known.version == version else { return .conflicting(known) }
        try connection.run(
            """
            UPDATE campaigns SET name = ?, draft = ?, version = version + 1, changed_at = ?, changed_by = ? WHERE id = ?
            """, text.name, text.draft, text.at, text.author.description, id.rawValue)
        return try campaign(id, in: hub).map(CampaignChange.changed) ?? .notFound
    }

    func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) throws(StorageError) -> CampaignChange {
        guard let known = try campaign(id, in: hub) else { return .notFound }
        if let earlier = known.send { return earlier == send ? .changed(known) : .sent(known) }
        guard try NotificationTable(connection).find(send, in: hub) != nil else { return .unknownSend }
        try connection.run("UPDATE campaigns SET send = ? WHERE id = ?", send.bytes, id.rawValue)
        return try campaign(id, in: hub).map(CampaignChange.changed) ?? .notFound
    }

    func remove(_ id: Campaign.ID, in hub: Hub.ID) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM campaigns WHERE id = ? AND hub = ?", id.rawValue, hub.rawValue)
        return connection.changes > 0
    }

    private static func campaign(_ row: Statement) -> Campaign {
        Campaign(
            id: Campaign.ID(rawValue: row.integer(0)), hub: Hub.ID(rawValue: row.integer(1)), name: row.text(2),
            draft: row.text(3), version: row.integer(4),
            send: row.isNull(5) ? nil : NotificationID(bytes: row.bytes(5)), createdAt: row.timestamp(6),
            changedAt: row.timestamp(7), changedBy: SendAuthor(row.text(8)) ?? .administrator)
    }
}
