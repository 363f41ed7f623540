extension Migration {
    static let receipts = Migration(
        name: "receipts",
        script: """
            CREATE TABLE notification_receipts (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                device TEXT NOT NULL,
                event TEXT NOT NULL,
                user TEXT NOT NULL,
                at INTEGER NOT NULL,
                PRIMARY KEY (notification, device, event)
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
