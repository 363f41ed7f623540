import MartletCore

/// The SQL query that reads the rows of a moved table (`MovedTable`) from the tables of this schema.
struct MoveQuery {
    let sql: String

    init(_ table: MovedTable) {
        let form = Self.forms[table.name] ?? Form()
        let columns = table.columns.map { column in
            form.columns[column.name] ?? Self.columns[column.name] ?? "x.\(Self.name(of: column.name, in: table))"
        }
        let hubs =
            table.isOfHub
            ? "JOIN hubs live ON live.id = \(form.columns["shard"] ?? "x.hub") AND live.is_deleted = 0" : ""
        let condition = form.condition.isEmpty ? "" : "WHERE \(form.condition)"
        sql = """
            SELECT \((columns + form.extras).joined(separator: ", "))
            FROM \(form.table ?? table.name) x \(form.joins) \(hubs) \(condition) \(form.order)
            """
    }

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
        "collapses": delivery,
        "ranges": delivery,
        "reached": Form(joins: delivery.joins, condition: "d.is_final = 1", columns: delivery.columns),
        "page_records": delivery,
        "refusals": delivery,
        "attempts": delivery,
        "retries": delivery,
        // The members of a progress map are in a file, so the query returns NULL for them.
        "progress": Form(
            table: "deliveries", joins: notification.joins, condition: "x.is_final = 0",
            columns: ["shard": "n.hub", "delivery": "x.id", "place": "0", "members": "NULL"]),
    ]

    static let rolloutColumns = [
        "rate", "duration", "halt_share", "halt_answers", "sample_size", "sample_share", "sample_threshold", "wait",
        "audience", "succeeded", "failed", "sent_at", "held_at", "released_at", "judged_at",
    ]
}
