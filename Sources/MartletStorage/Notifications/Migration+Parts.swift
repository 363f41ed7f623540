extension Migration {
    /// Adds parts of notifications, canaries, and settings of hubs for test sends and previews.
    ///
    /// A part of a notification waits in `parts` until `due_at`. A part without `due_at` has a gate: it begins when the
    /// gate is opened or the notification expires. A part that begins gets one delivery on each of its platforms.
    ///
    /// In a delivery, `lead` is the first delivery of the notification on its platform, NULL for the first delivery;
    /// `side` is 0 for the sample of a canary and 1 for the rest; `narrowing` is a tag expression that selects the
    /// part's registrations. All these columns are NULL in a delivery of a notification without parts.
    ///
    /// The sample of a canary has `sample_size` devices, or `sample_share` hundredths of a percent of the audience. Its
    /// members are those whose hash is not above `sample_threshold`. `held_at` is the time when all pages of the sample
    /// had been sent; the canary then holds for `wait` milliseconds. `judged_at` is the time when `wait` was over but
    /// the canary had too few answers to be released. `released_at` is the time when the rest was released.
    ///
    /// `testers` of a hub is a tag expression; `app_name` and `app_icon` are for previews.
    static let parts = Migration(
        name: "parts",
        script: """
            ALTER TABLE notifications ADD COLUMN has_parts INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE deliveries ADD COLUMN part INTEGER;
            ALTER TABLE deliveries ADD COLUMN lead INTEGER;
            ALTER TABLE deliveries ADD COLUMN side INTEGER;
            ALTER TABLE deliveries ADD COLUMN narrowing TEXT;
            ALTER TABLE deliveries ADD COLUMN expires_at INTEGER;
            ALTER TABLE rollouts ADD COLUMN sample_size INTEGER;
            ALTER TABLE rollouts ADD COLUMN sample_share INTEGER;
            ALTER TABLE rollouts ADD COLUMN sample_threshold INTEGER;
            ALTER TABLE rollouts ADD COLUMN wait INTEGER;
            ALTER TABLE rollouts ADD COLUMN held_at INTEGER;
            ALTER TABLE rollouts ADD COLUMN released_at INTEGER;
            ALTER TABLE rollouts ADD COLUMN judged_at INTEGER;
            CREATE INDEX rollouts_holding ON rollouts (held_at + wait)
                WHERE held_at IS NOT NULL AND wait IS NOT NULL AND released_at IS NULL AND judged_at IS NULL;
            CREATE TABLE parts (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                number INTEGER NOT NULL,
                platform TEXT,
                due_at INTEGER,
                expires_at INTEGER NOT NULL,
                side INTEGER,
                narrowing TEXT,
                begun_at INTEGER,
                PRIMARY KEY (notification, number)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX parts_waiting ON parts (ifnull(due_at, expires_at)) WHERE begun_at IS NULL;
            ALTER TABLE hubs ADD COLUMN testers TEXT;
            ALTER TABLE hubs ADD COLUMN app_name TEXT;
            ALTER TABLE hubs ADD COLUMN app_icon TEXT;
            """)
}
