extension Migration {
    /// A lifetime in milliseconds. Former states of devices are kept from the beginning of each notification that lives
    /// longer than this.
    static let longLifetime = 86_400_000

    /// A notification with its content and roll-out is one row, and so is a delivery. The numbers of both contain their
    /// shard (`Shard.compose`). Texts that strangers choose, such as reasons of push services, are bytea, because
    /// PostgreSQL's type text cannot contain U+0000.
    ///
    /// A notification without `begun_at` is scheduled for later. If it also has `finished_at`, it was canceled before
    /// it began. `rank` of a resend is the delivery whose age counts as the age of the resend when deliveries with the
    /// same collapse key are compared. `succeeded` and `failed` are the numbers of pushes that had ended when the
    /// counts of the halt rule were last reset. The columns from `audience` to `judged_at` have the state of a
    /// roll-out, which has a rate, a duration or a sample.
    ///
    /// `notifications_by_user` finds the sends of a user who is removed. `notifications_long` finds the notifications
    /// that need the former states of devices for longer than others.
    ///
    /// A part waits in `parts` until `due_at`. A part without `due_at` has a gate: it begins when the gate is opened or
    /// the notification expires.
    ///
    /// `collapses` lists deliveries with collapse keys by anchor: a tag, a handle, or `*`. `page_records` has the
    /// refusals and attempts of some members of a page as one value (`PageRecords`). `refusals` and `attempts` have one
    /// row for each record that is not in `page_records`, mostly those of retries. If both have a record, the row is
    /// newer. `reached` records which members were reached, in blocks of 65,536 member numbers.
    static let notifications = Migration(
        name: "notifications",
        script: """
            CREATE TABLE send_ordinals (
                shard int4 NOT NULL,
                notifications int8 NOT NULL DEFAULT 0,
                deliveries int8 NOT NULL DEFAULT 0,
                PRIMARY KEY (shard)
            ) WITH (fillfactor = 10);
            INSERT INTO send_ordinals (shard) SELECT shard FROM ordinals;
            CREATE TABLE notifications (
                shard int4 NOT NULL,
                sequence int8 NOT NULL,
                id bytea NOT NULL,
                platform text,
                expression text,
                handles bytea,
                body bytea NOT NULL,
                fields bytea NOT NULL,
                is_confidential bool NOT NULL,
                accepted_at int8 NOT NULL,
                due_at int8,
                expires_at int8 NOT NULL,
                states_expiry bool NOT NULL,
                collapse bytea,
                begun_at int8,
                finished_at int8,
                control text NOT NULL DEFAULT 'running',
                controlled_at int8,
                original int8,
                original_outcome text,
                rank int8,
                author bytea,
                has_parts bool NOT NULL DEFAULT false,
                has_refusals bool NOT NULL DEFAULT false,
                rate int8,
                duration int8,
                halt_share int8,
                halt_answers int8,
                sample_size int8,
                sample_share int8,
                sample_threshold int8,
                wait int8,
                audience int8,
                succeeded int8 NOT NULL DEFAULT 0,
                failed int8 NOT NULL DEFAULT 0,
                sent_at int8,
                held_at int8,
                released_at int8,
                judged_at int8,
                PRIMARY KEY (shard, sequence)
            ) WITH (fillfactor = 80);
            CREATE UNIQUE INDEX notifications_by_id ON notifications (shard, id);
            CREATE INDEX notifications_by_original ON notifications (shard, original) WHERE original IS NOT NULL;
            CREATE INDEX notifications_waiting ON notifications (due_at)
                WHERE begun_at IS NULL AND finished_at IS NULL;
            CREATE INDEX notifications_scheduled ON notifications (shard, due_at, sequence)
                WHERE begun_at IS NULL AND finished_at IS NULL;
            CREATE INDEX notifications_finished ON notifications (finished_at) WHERE finished_at IS NOT NULL;
            CREATE INDEX notifications_controlled ON notifications (sequence)
                WHERE control <> 'running' AND finished_at IS NULL;
            CREATE INDEX notifications_with_refusals ON notifications (shard, id) WHERE has_refusals;
            CREATE INDEX notifications_by_user ON notifications (author) WHERE substr(author, 1, 5) = 'user:';
            CREATE INDEX notifications_long ON notifications (shard, begun_at)
                WHERE expires_at - begun_at > \(longLifetime);
            CREATE INDEX notifications_holding ON notifications ((held_at + wait))
                WHERE held_at IS NOT NULL AND wait IS NOT NULL AND released_at IS NULL AND judged_at IS NULL;
            CREATE TABLE parts (
                shard int4 NOT NULL,
                notification int8 NOT NULL,
                number int8 NOT NULL,
                platform text,
                due_at int8,
                expires_at int8 NOT NULL,
                side int8,
                narrowing text,
                begun_at int8,
                PRIMARY KEY (shard, notification, number)
            );
            CREATE INDEX parts_waiting ON parts ((coalesce(due_at, expires_at))) WHERE begun_at IS NULL;
            CREATE TABLE backlogs (
                shard int4 NOT NULL,
                notifications int8 NOT NULL,
                bytes int8 NOT NULL,
                PRIMARY KEY (shard)
            ) WITH (fillfactor = 10);
            CREATE TABLE requests (
                shard int4 NOT NULL,
                key bytea NOT NULL,
                fingerprint bytea NOT NULL,
                notification bytea NOT NULL,
                accepted_at int8 NOT NULL,
                PRIMARY KEY (shard, key)
            );
            CREATE INDEX requests_by_time ON requests (accepted_at);
            """)

    /// Finds the unfinished sends of a user of the app backend, who has only a share of the hub's backlog.
    static let userBacklogs = Migration(
        name: "user backlogs",
        script: """
            CREATE INDEX notifications_unfinished_by_user ON notifications (shard, author)
                WHERE substr(author, 1, 5) = 'user:' AND finished_at IS NULL;
            """)

    static let deliveries = Migration(
        name: "deliveries",
        script: """
            CREATE TABLE deliveries (
                shard int4 NOT NULL,
                id int8 NOT NULL,
                notification int8 NOT NULL,
                platform text NOT NULL,
                last_channel int8 NOT NULL,
                last_registration int8 NOT NULL,
                state text NOT NULL,
                is_final bool NOT NULL DEFAULT false,
                cursor_channel int8 NOT NULL DEFAULT 0,
                cursor_registration int8 NOT NULL DEFAULT 0,
                is_fanned_out bool NOT NULL DEFAULT false,
                started_at int8,
                ended_at int8,
                part int8,
                lead int8,
                side int8,
                narrowing text,
                expires_at int8,
                PRIMARY KEY (shard, id)
            ) WITH (fillfactor = 60);
            CREATE INDEX deliveries_by_notification ON deliveries (shard, notification);
            CREATE INDEX deliveries_unfinished ON deliveries (id) WHERE NOT is_final;
            CREATE TABLE outcome_counts (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                outcome text NOT NULL,
                count int8 NOT NULL,
                PRIMARY KEY (shard, delivery, outcome)
            ) WITH (fillfactor = 70);
            CREATE TABLE collapses (
                shard int4 NOT NULL,
                platform text NOT NULL,
                key bytea NOT NULL,
                anchor bytea NOT NULL,
                expression bytea NOT NULL,
                delivery int8 NOT NULL,
                last_channel int8 NOT NULL,
                PRIMARY KEY (shard, platform, key, anchor, expression, delivery)
            );
            CREATE INDEX collapses_by_key ON collapses (shard, platform, key, delivery);
            CREATE INDEX collapses_by_delivery ON collapses (shard, delivery);
            CREATE TABLE ranges (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                last_channel int8 NOT NULL,
                last_registration int8 NOT NULL,
                change int8 NOT NULL,
                registration int8 NOT NULL,
                started_at int8 NOT NULL,
                ended_at int8 NOT NULL,
                summary bytea NOT NULL,
                PRIMARY KEY (shard, delivery, last_channel, last_registration)
            );
            CREATE TABLE reached (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                place int8 NOT NULL,
                members bytea NOT NULL,
                PRIMARY KEY (shard, delivery, place)
            );
            CREATE TABLE page_records (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                last_channel int8 NOT NULL,
                last_registration int8 NOT NULL,
                refusals int8 NOT NULL,
                attempts int8 NOT NULL,
                records bytea NOT NULL,
                PRIMARY KEY (shard, delivery, last_channel, last_registration)
            );
            CREATE TABLE refusals (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                channel int8 NOT NULL,
                registration int8 NOT NULL,
                handle bytea,
                outcome text NOT NULL,
                reason bytea NOT NULL,
                refused_at int8 NOT NULL,
                attempts int8 NOT NULL,
                origin bytea,
                status int8,
                connection int8,
                fate text NOT NULL,
                registration_id bytea,
                installation_id bytea,
                PRIMARY KEY (shard, delivery, channel, registration)
            );
            CREATE TABLE attempts (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                channel int8 NOT NULL,
                registration int8 NOT NULL,
                made_at int8 NOT NULL,
                number int8 NOT NULL,
                outcome text NOT NULL,
                reason bytea NOT NULL,
                origin bytea,
                status int8,
                connection int8,
                fate text NOT NULL,
                followed int8,
                PRIMARY KEY (shard, delivery, channel, registration, made_at, number)
            );
            CREATE INDEX attempts_followed ON attempts (shard, delivery, followed) WHERE followed IS NOT NULL;
            CREATE TABLE retries (
                shard int4 NOT NULL,
                delivery int8 NOT NULL,
                channel int8 NOT NULL,
                registration int8 NOT NULL,
                attempts int8 NOT NULL,
                due_at int8 NOT NULL,
                outcome text NOT NULL,
                reason bytea NOT NULL,
                PRIMARY KEY (shard, delivery, channel, registration)
            );
            CREATE INDEX retries_by_time ON retries (shard, delivery, due_at);
            CREATE INDEX registration_history_by_channel ON registration_history (shard, channel, change);
            CREATE TABLE lane_pauses (
                shard int4 NOT NULL,
                platform text NOT NULL,
                origin bytea NOT NULL,
                until int8 NOT NULL,
                outcome text NOT NULL,
                reason bytea NOT NULL,
                PRIMARY KEY (shard, platform, origin)
            );
            CREATE INDEX lane_pauses_by_time ON lane_pauses (until);
            CREATE TABLE quarantines (
                shard int4 NOT NULL,
                platform text NOT NULL,
                application bytea NOT NULL,
                PRIMARY KEY (shard, platform, application)
            );
            CREATE TABLE notification_receipts (
                shard int4 NOT NULL,
                notification int8 NOT NULL,
                device bytea NOT NULL,
                event text NOT NULL,
                user_name bytea NOT NULL,
                at int8 NOT NULL,
                platform text NOT NULL,
                PRIMARY KEY (shard, notification, device, event)
            );
            CREATE TABLE receipt_events (
                shard int4 NOT NULL,
                platform text NOT NULL,
                event text NOT NULL,
                PRIMARY KEY (shard, platform, event)
            );
            """)
}
