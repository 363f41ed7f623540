extension Migration {
    /// Makes the tables of payloads, of their addressees, and of the audit of reads.
    ///
    /// A payload's text has a separate table, so that the text can be removed before the payload's row. A payload's
    /// body is a file, whose name is in `body`.
    ///
    /// `size` is the size in bytes of the content that is still stored. For each sender, `payload_totals` has the sum
    /// of these sizes, plus `StoredPayload.recordSize` for each payload. The sum includes payloads that have expired
    /// but are not removed yet. For payloads that can be read only once, `unread` counts the addressees that have not
    /// read them.
    static let payloads = Migration(
        name: "payloads",
        script: """
            CREATE TABLE payloads (
                id INTEGER PRIMARY KEY,
                kind TEXT NOT NULL,
                sender TEXT NOT NULL,
                type TEXT NOT NULL,
                content_type TEXT NOT NULL,
                message TEXT NOT NULL,
                body TEXT,
                size INTEGER NOT NULL,
                is_once INTEGER NOT NULL,
                unread INTEGER NOT NULL,
                device TEXT,
                is_published INTEGER NOT NULL,
                created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX payloads_by_body ON payloads (body) WHERE body IS NOT NULL;
            CREATE INDEX payloads_by_expiry ON payloads (expires_at);
            CREATE INDEX payloads_by_sender ON payloads (sender, expires_at, size);
            CREATE INDEX payloads_unpublished ON payloads (created_at) WHERE is_published = 0;
            CREATE TABLE payload_texts (
                payload INTEGER PRIMARY KEY REFERENCES payloads ON DELETE CASCADE,
                sealed BLOB NOT NULL
            ) STRICT;
            CREATE TABLE payload_totals (
                sender TEXT NOT NULL PRIMARY KEY,
                size INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE addressees (
                payload INTEGER NOT NULL REFERENCES payloads ON DELETE CASCADE,
                user TEXT NOT NULL,
                read_at INTEGER,
                PRIMARY KEY (payload, user)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE payload_audit (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                at INTEGER NOT NULL,
                payload INTEGER NOT NULL,
                user TEXT NOT NULL,
                outcome TEXT NOT NULL,
                address TEXT NOT NULL
            ) STRICT;
            CREATE INDEX payload_audit_by_payload ON payload_audit (payload);
            CREATE INDEX payload_audit_by_user ON payload_audit (user);
            CREATE INDEX payload_audit_refused ON payload_audit (number) WHERE outcome = 'refused';
            """)
}
