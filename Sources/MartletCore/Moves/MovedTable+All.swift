extension MovedTable {
    /// All tables that are moved, in an order in which their rows can be written. Before them, hubs are written with
    /// their rules and credentials (`MovedDirectory`), and containers with their blobs (`MovedBlob`), to which jobs
    /// refer.
    ///
    /// Not moved:
    /// - nodes, their leases, their last transactions (`nodes`, `writers`) and the owners of hubs: data of running
    ///   processes,
    /// - data that a store derives from other rows: sizes of backlogs, uses of contents, tags without members, the mark
    ///   of the latest delivery of a collapse key,
    /// - deleted hubs whose rows have not been removed yet,
    /// - uncommitted blocks of blobs, which the client uploads again,
    /// - `versions` and `last_backup`, which describe the former data directory,
    /// - the progress maps of the nodes of a database. The progress maps of a data directory are moved (`progress`).
    ///
    /// Handles and ids of registrations are in the form of PostgreSQL's columns: a first byte says whether the rest is
    /// packed.
    public static let all = ofNamespace + ofDevices + ofSends + ofWork

    private static let ofNamespace = [
        MovedTable("users", "folded_name name password_hash roles created_at"),
        MovedTable("sessions", "token_hash user_name created_at expires_at"),
        MovedTable("sends", "key fingerprint payloads started_at is_complete"),
        MovedTable("metric_hours", "hour figures"),
        MovedTable(
            "operators",
            "folded_name name password_hash roles is_disabled created_at signed_in_at settings issuer subject"),
        MovedTable("operator_links", "token_hash operator kind expires_at"),
        MovedTable("operator_sessions", "token_hash operator created_at used_at confirmed_at address agent"),
        MovedTable("operator_factors", "operator sealed_secret confirmed_at last_step"),
        MovedTable("operator_recovery_codes", "operator hash"),
        MovedTable("operator_actions", "id at operator address role action hub subject answer"),
        MovedTable(
            "payloads",
            """
            id kind sender type content_type message body size is_once unread device is_published created_at expires_at
            """),
        MovedTable("payload_texts", "payload sealed"),
        MovedTable("payload_totals", "sender size"),
        MovedTable("addressees", "payload user_name read_at"),
        MovedTable("payload_receipts", "payload device event user_name at"),
        MovedTable("payload_audit", "number at payload user_name outcome address"),
    ]

    private static let ofDevices = [
        MovedTable("tags", "shard platform is_template name id:tags", use: .copied),
        MovedTable("templates", "shard id:contents content"),
        MovedTable("variables", "shard id:contents content"),
        MovedTable("channels", "shard channel:channels platform key handle registered_at is_suspected"),
        MovedTable(
            "installations",
            "shard sequence:installations id version created_at updated_at expires_at document dead_slots"),
        MovedTable(
            "registrations",
            """
            shard sequence:registrations platform channel:channels id handle tags tag_numbers:tags! version created_at
            updated_at expires_at template:contents variables:contents secondary_tile installation:installations slot
            """),
        // The tags of registrations in the form in which the store searches for devices. `registrations` has the same
        // tags as text.
        MovedTable(
            "memberships", "shard platform is_template name channel:channels registration:registrations",
            use: .compared),
        MovedTable("device_keys", "shard registration:registrations tag public_key auth_secret"),
        MovedTable("tombstones", "shard id gone_at"),
        MovedTable(
            "registration_history",
            """
            shard change:changes sequence:registrations id installation platform channel:channels handle tags
            tag_numbers:tags! template:contents variables:contents expires_at created_at ended_at cause
            """),
        MovedTable("former_channels", "shard channel:channels platform key handle"),
    ]

    private static let ofSends = [
        MovedTable(
            "notifications",
            """
            shard sequence:notifications id platform expression handles body fields is_confidential accepted_at due_at
            expires_at states_expiry collapse begun_at finished_at control controlled_at original:notifications
            original_outcome rank:deliveries author has_parts has_refusals rate duration halt_share halt_answers
            sample_size sample_share sample_threshold wait audience succeeded failed sent_at held_at released_at judged_at
            """),
        MovedTable(
            "parts", "shard notification:notifications number platform due_at expires_at side narrowing begun_at"),
        MovedTable("requests", "shard key fingerprint notification accepted_at"),
        MovedTable(
            "deliveries",
            """
            shard id:deliveries notification:notifications member platform last_channel:member-channel
            last_registration:member-registration state is_final cursor_channel:member-channel
            cursor_registration:member-registration is_fanned_out started_at ended_at part lead:deliveries side narrowing
            expires_at
            """),
        MovedTable("outcome_counts", "shard delivery:deliveries outcome count"),
        MovedTable(
            "collapses", "shard delivery:deliveries member platform key anchor expression last_channel:member-channel"),
        MovedTable(
            "ranges",
            """
            shard delivery:deliveries member last_channel:member-channel last_registration:member-registration
            change:changes registration:registrations started_at ended_at summary
            """),
        MovedTable("reached", "shard delivery:deliveries member place:place members"),
        // The members that unfinished deliveries have reached.
        MovedTable("progress", "shard delivery:deliveries member place:place members"),
        MovedTable(
            "page_records",
            """
            shard delivery:deliveries member last_channel:member-channel last_registration:member-registration refusals
            attempts records
            """),
        MovedTable(
            "refusals",
            """
            shard delivery:deliveries member channel:member-channel registration:member-registration handle outcome reason
            refused_at attempts origin status connection fate registration_id installation_id
            """),
        MovedTable(
            "attempts",
            """
            shard delivery:deliveries member channel:member-channel registration:member-registration made_at number outcome
            reason origin status connection fate followed:channels
            """),
        MovedTable(
            "retries",
            """
            shard delivery:deliveries member channel:member-channel registration:member-registration attempts due_at outcome
            reason
            """),
        MovedTable("lane_pauses", "shard platform origin until outcome reason"),
        MovedTable("quarantines", "shard platform application"),
        MovedTable(
            "notification_receipts", "shard notification:notifications device event user_name at platform"),
        MovedTable("receipt_events", "shard platform event"),
    ]

    private static let ofWork = [
        MovedTable("campaigns", "shard id:campaigns name draft version send created_at changed_at changed_by"),
        // If `input_tag` is the current entity tag of the input blob, it is moved as `=`, because each store makes its
        // own entity tags.
        MovedTable(
            "jobs",
            """
            shard sequence:jobs id kind sealed_addresses output directory input_container input_name created_at status
            is_final progress failure updated_at input_offset line input_tag last_sequence:registrations count output_bytes
            pending_output failed_bytes pending_failed is_written
            """),
    ]
}
