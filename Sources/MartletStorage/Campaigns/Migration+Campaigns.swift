extension Migration {
    /// Makes the table of campaigns. The column `send` is the id of the notification that was sent from the campaign.
    /// It is not a foreign key, because the notification's row may be removed before the campaign's row.
    static let campaigns = Migration(
        name: "campaigns",
        script: """
            CREATE TABLE campaigns (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                name TEXT NOT NULL,
                draft TEXT NOT NULL,
                version INTEGER NOT NULL,
                send BLOB,
                created_at INTEGER NOT NULL,
                changed_at INTEGER NOT NULL,
                changed_by TEXT NOT NULL
            ) STRICT;
            CREATE INDEX campaigns_by_hub ON campaigns (hub, id);
            """)
}
