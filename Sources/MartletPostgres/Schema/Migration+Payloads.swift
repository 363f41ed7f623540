extension Migration {
    /// Payloads belong to the namespace and to no hub, so these tables have no shard. A payload's text has a separate
    /// table, so that the text can be removed before the record. A payload's body is stored as a blob, whose name is in
    /// `body`.
    ///
    /// `size` is the size in bytes of the content that is still stored. For each sender, `payload_totals` has the sum
    /// of these sizes, plus `StoredPayload.recordSize` for each payload. The sum includes payloads that have expired
    /// but are not removed yet. For payloads that can be read only once, `unread` counts the addressees that have not
    /// read them.
    static let payloads = Migration(
        name: "payloads",
        script: """
            CREATE TABLE payloads (
                id int4 PRIMARY KEY,
                kind text NOT NULL,
                sender bytea NOT NULL,
                type bytea NOT NULL,
                content_type bytea NOT NULL,
                message bytea NOT NULL,
                body bytea,
                size int8 NOT NULL,
                is_once bool NOT NULL,
                unread int8 NOT NULL DEFAULT 0,
                device bytea,
                is_published bool NOT NULL DEFAULT false,
                created_at int8 NOT NULL,
                expires_at int8 NOT NULL
            );
            CREATE UNIQUE INDEX payloads_by_body ON payloads (body) WHERE body IS NOT NULL;
            CREATE INDEX payloads_by_expiry ON payloads (expires_at, id);
            CREATE INDEX payloads_by_sender ON payloads (sender, expires_at);
            CREATE INDEX payloads_unpublished ON payloads (created_at) WHERE NOT is_published;
            CREATE TABLE payload_texts (
                payload int4 PRIMARY KEY REFERENCES payloads ON DELETE CASCADE,
                sealed bytea NOT NULL
            );
            CREATE TABLE payload_totals (
                sender bytea PRIMARY KEY,
                size int8 NOT NULL
            );
            CREATE TABLE addressees (
                payload int4 NOT NULL REFERENCES payloads ON DELETE CASCADE,
                user_name bytea NOT NULL,
                read_at int8,
                PRIMARY KEY (payload, user_name)
            );
            CREATE TABLE payload_receipts (
                payload int4 NOT NULL REFERENCES payloads ON DELETE CASCADE,
                device bytea NOT NULL,
                event text NOT NULL,
                user_name bytea NOT NULL,
                at int8 NOT NULL,
                PRIMARY KEY (payload, device, event)
            );
            CREATE TABLE payload_audit (
                number int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                at int8 NOT NULL,
                payload int4 NOT NULL,
                user_name bytea NOT NULL,
                outcome text NOT NULL,
                address bytea NOT NULL
            );
            CREATE INDEX payload_audit_by_payload ON payload_audit (payload, number);
            CREATE INDEX payload_audit_by_user ON payload_audit (user_name, number);
            CREATE INDEX payload_audit_refused ON payload_audit (number) WHERE outcome = 'refused';
            """)
}
