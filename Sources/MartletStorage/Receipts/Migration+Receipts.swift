extension Migration {
    /// Makes the tables of receipts. `receipt_events` records which events the devices of a platform have ever reported
    /// in a hub.
    static let receipts = Migration(
        name: "receipts",
        script: """
            CREATE TABLE notification_receipts (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                device TEXT NOT NULL,
                event TEXT NOT NULL,
                user TEXT NOT NULL,
                at INTEGER NOT NULL,
                platform TEXT NOT NULL,
                PRIMARY KEY (notification, device, event)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE receipt_events (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                platform TEXT NOT NULL,
                event TEXT NOT NULL,
                PRIMARY KEY (hub, platform, event)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE payload_receipts (
                payload INTEGER NOT NULL REFERENCES payloads ON DELETE CASCADE,
                device TEXT NOT NULL,
                event TEXT NOT NULL,
                user TEXT NOT NULL,
                at INTEGER NOT NULL,
                PRIMARY KEY (payload, device, event)
            ) STRICT, WITHOUT ROWID;
            """)
}
