import MartletCore

/// The SQL query that reads the rows of a moved table (`MovedTable`) from the tables of this schema.
struct MoveQuery {
    let sql: String
    /// The columns by which the rows are ordered, as indices; empty if the query states no such order.
    let key: [Int32]

    init(_ table: MovedTable) {
        self.init(table, key: [])
    }

    /// Makes the query that reads the rows in the order of their key, so that two states of the table can be compared
    /// row by row.
    init(orderedByKey table: MovedTable) {
        self.init(table, key: (Self.keys[table.name] ?? "").split(separator: " ").map(String.init))
    }

    private init(_ table: MovedTable, key names: [String]) {
        key = names.compactMap { table.index(of: $0) }.map(Int32.init)
        let form = Self.forms[table.name] ?? Form()
        let columns = table.columns.map { column in
            form.columns[column.name] ?? Self.columns[column.name] ?? "x.\(Self.name(of: column.name, in: table))"
        }
        let hubs =
            table.isOfHub
            ? "JOIN hubs live ON live.id = \(form.columns["shard"] ?? "x.hub") AND live.is_deleted = 0" : ""
        let condition = form.condition.isEmpty ? "" : "WHERE \(form.condition)"
        let selection = (columns + form.extras).joined(separator: ", ")
        let joins = "\(form.joins) \(hubs)"
        guard !key.isEmpty else {
            sql = "SELECT \(selection) FROM \(form.table ?? table.name) x \(joins) \(condition) \(form.order)"
            return
        }
        let order = key.map { columns[Int($0)] }.joined(separator: ", ")
        sql = """
            SELECT \(selection) FROM \(form.table ?? table.name) x \(Self.inOrder(joins)) \(condition) ORDER BY \(order)
            """
    }

    /// Makes SQLite read the joined tables in the stated order. The rows are then read in the order of their key, and
    /// need no sorting.
    private static func inOrder(_ joins: String) -> String {
        var words: [Substring] = []
        for word in joins.split(whereSeparator: \.isWhitespace) {
            let isPlain = word == "JOIN" && words.last != "LEFT" && words.last != "CROSS"
            words += isPlain ? ["CROSS", "JOIN"] : [word]
        }
        return words.joined(separator: " ")
    }

    /// Columns that tell the rows of a table apart, in the order of an index of the schema.
    static let keys = [
        "users": "folded_name", "sessions": "token_hash", "sends": "key", "metric_hours": "hour",
        "operators": "folded_name", "operator_links": "token_hash", "operator_sessions": "token_hash",
        "operator_factors": "operator", "operator_recovery_codes": "operator hash", "operator_actions": "id",
        "payloads": "id", "payload_texts": "payload", "payload_totals": "sender",
        "addressees": "payload user_name", "payload_receipts": "payload device event", "payload_audit": "number",
        "tags": "shard name is_template platform", "templates": "id", "variables": "id", "channels": "channel",
        "installations": "sequence", "registrations": "sequence", "device_keys": "registration",
        "tombstones": "shard id", "registration_history": "change", "former_channels": "channel",
        "notifications": "sequence", "parts": "notification number", "requests": "shard key", "deliveries": "id",
        "outcome_counts": "delivery outcome", "collapses": "shard platform key anchor expression delivery",
        "ranges": "delivery last_channel last_registration", "reached": "delivery place",
        "page_records": "delivery last_channel last_registration", "refusals": "delivery channel registration",
        "attempts": "delivery channel registration made_at number", "retries": "delivery channel registration",
        "lane_pauses": "shard platform origin", "quarantines": "shard platform application",
        "notification_receipts": "notification device event", "receipt_events": "shard platform event",
        "campaigns": "id",
    ]

    /// Returns the name that a column of a moved table has in the schema.
    static func name(of column: String, in table: MovedTable) -> String {
        switch (table.name, column) {
        case (_, "shard"): "hub"
        case (_, "user_name"): "user"
        case ("metric_hours", "hour"): "at"
        default: column
        }
    }

    /// The ways in which the query for one moved table differs from a plain query for its columns.
    private struct Form {
        /// The table of the schema to read from; nil if it has the name of the moved table.
        var table: String?
        var joins = ""
        var condition = ""
        var columns: [String: String] = [:]
        /// Further columns to read, which follow the columns of the moved table.
        var extras: [String] = []
        var order = ""
    }

    private static let columns = [
        "member": "CASE WHEN n.handles IS NOT NULL THEN 2 WHEN n.platform IS NULL THEN 1 ELSE 0 END"
    ]

    private static let notification = Form(
        joins: "JOIN notifications n ON n.sequence = x.notification", columns: ["shard": "n.hub"])
    private static let delivery = Form(
        joins: "JOIN deliveries d ON d.id = x.delivery JOIN notifications n ON n.sequence = d.notification",
        columns: ["shard": "n.hub"])

    private static func content(_ column: String) -> Form {
        Form(
            table: "contents",
            joins: """
                JOIN (SELECT \(column) AS id FROM registrations WHERE \(column) IS NOT NULL
                    UNION SELECT \(column) FROM registration_history WHERE \(column) IS NOT NULL) u ON u.id = x.id
                """)
    }

    private static let forms: [String: Form] = [
        "users": Form(columns: ["roles": "(SELECT group_concat(role, ' ') FROM user_roles WHERE user = x.folded_name)"]
        ),
        "tags": Form(condition: "x.name <> '\(TagTable.everyone)'"),
        "templates": content("template"),
        "variables": content("variables"),
        "channels": Form(
            columns: [
                "channel": "x.id", "handle": "ifnull(x.handle, x.key)",
                "registered_at": """
                max(x.registered_at, ifnull((SELECT max(r.updated_at) FROM registrations r WHERE r.channel = x.id), 0))
                """,
                "is_suspected": "x.is_suspected IS NOT NULL",
            ]),
        "former_channels": Form(
            columns: [
                "channel": "x.id", "key": "NULL",
                "handle": """
                (SELECT h.handle FROM registration_history h WHERE h.channel = x.id ORDER BY h.change DESC LIMIT 1)
                """,
            ], extras: ["x.ending"]),
        "installations": Form(
            columns: [
                "dead_slots": "(SELECT group_concat(hex(slot), ' ') FROM dead_slots WHERE installation = x.sequence)"
            ]),
        "registrations": Form(
            joins: "JOIN channels c ON c.id = x.channel",
            columns: ["platform": "c.platform", "handle": "ifnull(c.handle, c.key)", "tag_numbers": "NULL"]),
        "memberships": Form(
            table: "tags", joins: "CROSS JOIN tag_members m ON m.tag = x.id",
            columns: ["channel": "m.channel", "registration": "m.registration"]),
        "device_keys": Form(
            joins: "JOIN registrations r ON r.sequence = x.registration", columns: ["shard": "r.hub"]),
        "tombstones": Form(order: "ORDER BY x.sequence"),
        "registration_history": Form(columns: ["tag_numbers": "NULL"]),
        "notifications": Form(
            joins: """
                JOIN messages m ON m.notification = x.sequence LEFT JOIN rollouts o ON o.notification = x.sequence
                LEFT JOIN authors a ON a.id = x.author
                """,
            columns: Dictionary(
                uniqueKeysWithValues: [
                    ("body", "m.body"), ("fields", "m.fields"), ("author", "a.name"),
                    ("succeeded", "ifnull(o.succeeded, 0)"), ("failed", "ifnull(o.failed, 0)"),
                ] + rolloutColumns.filter { !["succeeded", "failed"].contains($0) }.map { ($0, "o.\($0)") })),
        "parts": notification,
        "notification_receipts": notification,
        "deliveries": notification,
        "outcome_counts": delivery,
        // The rows have their hub themselves, and are in its order.
        "collapses": Form(joins: delivery.joins),
        "ranges": delivery,
        "reached": Form(joins: delivery.joins, condition: "d.is_final = 1", columns: delivery.columns),
        "page_records": delivery,
        "refusals": delivery,
        "attempts": delivery,
        "retries": delivery,
        // The members of a progress map are in a file, so the query returns NULL for them.
        "progress": Form(
            table: "deliveries", joins: notification.joins, condition: "x.is_final = 0",
            columns: ["shard": "n.hub", "delivery": "x.id", "place": "0", "members": "NULL"],
            // No member has a higher number: those of a direct send count its handles, each of at least a byte.
            extras: [
                "CASE WHEN n.handles IS NULL THEN max(x.last_channel, x.last_registration) ELSE length(n.handles) END"
            ]),
    ]

    static let rolloutColumns = [
        "rate", "duration", "halt_share", "halt_answers", "sample_size", "sample_share", "sample_threshold", "wait",
        "audience", "succeeded", "failed", "sent_at", "held_at", "released_at", "judged_at",
    ]
}
