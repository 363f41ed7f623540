extension Migration {
    /// Makes the tables of notifications, deliveries, lanes and requests.
    ///
    /// Messages have a table of their own, so that a step of a delivery does not write them again.
    ///
    /// `ranges`, `attempts` and `reached` record the outcomes of individual members for as long as the notification is
    /// kept.
    ///
    /// A pause in `lane_pauses` with an empty `origin` applies to the whole lane.
    ///
    /// `original` of a resend is the sequence number of the original notification, which may have been removed.
    /// `original_outcome` selects which pushes of the original are sent again; NULL selects pushes with any outcome. If
    /// the resend has a collapse key, `rank` is the delivery of the original whose age counts as the age of the resend.
    ///
    /// A notification without `begun_at` is scheduled for later. If it also has `finished_at`, it was canceled before
    /// it began.
    ///
    /// In a roll-out, `halt_share` is in hundredths of a percent and `duration` is in milliseconds; at most one of
    /// `rate` and `duration` is set. `succeeded` and `failed` are the numbers of pushes that had ended when the counts
    /// of the halt rule were last reset; the rule counts only the pushes that ended later.
    ///
    /// `collapse` contains the collapse keys in the format of `Collapse.bytes`. `collapses` lists the deliveries with
    /// collapse keys by their anchors (see `CollapseTable`).
    static let notifications = Migration(
        name: "notifications",
        script: """
            CREATE TABLE notifications (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                id BLOB NOT NULL,
                platform TEXT,
                expression TEXT,
                handles BLOB,
                is_confidential INTEGER NOT NULL,
                accepted_at INTEGER NOT NULL,
                due_at INTEGER,
                expires_at INTEGER NOT NULL,
                states_expiry INTEGER NOT NULL,
                collapse BLOB,
                begun_at INTEGER,
                finished_at INTEGER,
                control TEXT NOT NULL DEFAULT 'running',
                controlled_at INTEGER,
                original INTEGER,
                original_outcome TEXT,
                rank INTEGER
            ) STRICT;
            CREATE UNIQUE INDEX notifications_by_id ON notifications (hub, id);
            CREATE INDEX notifications_by_original ON notifications (original) WHERE original IS NOT NULL;
            CREATE INDEX notifications_waiting ON notifications (due_at)
                WHERE begun_at IS NULL AND finished_at IS NULL;
            CREATE INDEX notifications_finished ON notifications (finished_at) WHERE finished_at IS NOT NULL;
            CREATE INDEX notifications_controlled ON notifications (sequence)
                WHERE control <> 'running' AND finished_at IS NULL;
            CREATE TABLE rollouts (
                notification INTEGER PRIMARY KEY REFERENCES notifications ON DELETE CASCADE,
                rate INTEGER,
                duration INTEGER,
                halt_share INTEGER,
                halt_answers INTEGER,
                audience INTEGER,
                succeeded INTEGER NOT NULL DEFAULT 0,
                failed INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE TABLE messages (
                notification INTEGER PRIMARY KEY REFERENCES notifications ON DELETE CASCADE,
                body BLOB NOT NULL,
                fields BLOB NOT NULL
            ) STRICT;
            CREATE TABLE deliveries (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                platform TEXT NOT NULL,
                last_channel INTEGER NOT NULL,
                last_registration INTEGER NOT NULL,
                state TEXT NOT NULL,
                is_final INTEGER NOT NULL,
                cursor_channel INTEGER NOT NULL,
                cursor_registration INTEGER NOT NULL,
                is_fanned_out INTEGER NOT NULL,
                started_at INTEGER,
                ended_at INTEGER
            ) STRICT;
            CREATE INDEX deliveries_by_notification ON deliveries (notification);
            CREATE INDEX deliveries_unfinished ON deliveries (id) WHERE is_final = 0;
            CREATE TABLE collapses (
                hub INTEGER NOT NULL,
                platform TEXT NOT NULL,
                key TEXT NOT NULL,
                anchor TEXT NOT NULL,
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                expression TEXT,
                last_channel INTEGER NOT NULL,
                PRIMARY KEY (hub, platform, key, anchor, delivery)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX collapses_by_key ON collapses (hub, platform, key, delivery);
            CREATE INDEX collapses_by_delivery ON collapses (delivery);
            CREATE TABLE outcome_counts (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                outcome TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (delivery, outcome)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE refusals (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                channel INTEGER NOT NULL,
                registration INTEGER NOT NULL,
                handle ANY,
                registration_id ANY,
                installation_id TEXT,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                refused_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                origin TEXT,
                status INTEGER,
                connection INTEGER,
                fate TEXT NOT NULL,
                PRIMARY KEY (delivery, channel, registration)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE retries (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                channel INTEGER NOT NULL,
                registration INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                due_at INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (delivery, channel, registration)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX retries_by_time ON retries (delivery, due_at);
            CREATE TABLE attempts (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                channel INTEGER NOT NULL,
                registration INTEGER NOT NULL,
                made_at INTEGER NOT NULL,
                number INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                origin TEXT,
                status INTEGER,
                connection INTEGER,
                fate TEXT NOT NULL,
                PRIMARY KEY (delivery, channel, registration, made_at, number)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE ranges (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                last_channel INTEGER NOT NULL,
                last_registration INTEGER NOT NULL,
                change INTEGER NOT NULL,
                registration INTEGER NOT NULL,
                started_at INTEGER NOT NULL,
                ended_at INTEGER NOT NULL,
                summary BLOB NOT NULL,
                PRIMARY KEY (delivery, last_channel, last_registration)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE reached (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                place INTEGER NOT NULL,
                members BLOB NOT NULL,
                PRIMARY KEY (delivery, place)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE lane_pauses (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                platform TEXT NOT NULL,
                origin TEXT NOT NULL,
                until INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (hub, platform, origin)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX lane_pauses_by_time ON lane_pauses (until);
            CREATE TABLE quarantines (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                platform TEXT NOT NULL,
                application TEXT NOT NULL,
                PRIMARY KEY (hub, platform, application)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE requests (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                key BLOB NOT NULL,
                fingerprint BLOB NOT NULL,
                notification BLOB NOT NULL,
                accepted_at INTEGER NOT NULL,
                PRIMARY KEY (hub, key)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX requests_by_time ON requests (accepted_at);
            """)
}
