import MartletCore

/// The query that reads the rows of a moved table.
struct MovedQuery {
    let sql: String
    let forms: [CopiedForm]

    /// The types of the columns of each table of the schema; nil for a type that no moved column has.
    typealias Catalog = [String: [(name: String, type: ColumnType?)]]

    /// - Parameters:
    ///   - isForComparison: Whether the rows are read to be compared. Columns that are not compared are then NULL.
    ///   - filter: A table, and the condition by which the rows, as `x`, are joined with it; nil for all rows.
    /// - Throws: `StorageError` if the table lacks a column, or if a column has a type that is not known.
    init(
        _ table: MovedTable, _ catalog: Catalog, isForComparison: Bool,
        joining filter: (table: String, condition: String)? = nil
    ) throws(StorageError) {
        let form = Self.forms[table.name] ?? Form()
        let name = form.table ?? table.name
        let types = Dictionary(
            (catalog[name] ?? []).map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        var columns: [(sql: String, form: CopiedForm)] = try table.columns.map { column throws(StorageError) in
            if isForComparison, !column.isCompared { return ("NULL::int8[]", .numbers) }
            if let special = form.columns[column.name] ?? Self.columns[column.name] { return special }
            let mask: Int64? =
                switch column.number {
                case .row(.notifications), .row(.deliveries): Shard.numberMask
                case .row(.tags): Int64(UInt32.max)
                default: nil
                }
            if let mask { return ("x.\(column.name) & \(mask)", .integer) }
            guard let type = types[column.name] ?? nil else { throw Self.unknown(column.name, of: name) }
            return type.expression("x.\(column.name)")
        }
        columns += form.extras
        let filters = filter.map { [Join($0.table, on: $0.condition)] } ?? []
        let joins = filters + (table.isOfHub ? [Self.hubs] : []) + form.joins
        sql = Self.select(
            columns.map(\.sql).joined(separator: ", "), from: name, joins, where: form.condition, form.order)
        forms = columns.map(\.form)
    }

    static func unknown(_ column: String, of table: String) -> StorageError {
        StorageError(.corrupt, "Nothing is known of the column '\(column)' of '\(table)', so it cannot be moved.")
    }

    /// The query that counts the rows of existing hubs, including rows that refer to a missing row, which the query for
    /// the rows leaves out; nil if the table need not or cannot be counted.
    static func count(of table: MovedTable) -> String? {
        let form = forms[table.name] ?? Form()
        if table.name == "memberships" {
            return select(
                "coalesce(sum((SELECT count(DISTINCT u.id) FROM unnest(x.tags) u (id)) + 1), 0)::int8",
                from: "registrations", [hubs])
        }
        guard table.isOfHub, !form.joins.isEmpty, form.isOfEachRow, form.table == nil else { return nil }
        // The other tables are needed only for the condition, and must not leave out a row.
        let joins = form.condition.isEmpty ? [] : form.joins.map(\.keepingAllRows)
        return select("count(*)", from: table.name, [hubs] + joins, where: form.condition)
    }

    private static func select(
        _ columns: String, from table: String, _ joins: [Join], where condition: String = "", _ order: String = ""
    ) -> String {
        let parts = ["SELECT \(columns) FROM \(table) x"] + joins.map(\.sql)
        return (parts + [condition.isEmpty ? "" : "WHERE \(condition)", order]).filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    /// A table that the rows are joined with.
    private struct Join {
        /// The table with its alias, or a subquery.
        let table: String
        let condition: String
        /// Whether a row stays if the table has no match for it.
        private var keepsAllRows: Bool

        init(_ table: String, on condition: String = "true", keepsAllRows: Bool = false) {
            (self.table, self.condition, self.keepsAllRows) = (table, condition, keepsAllRows)
        }

        var sql: String { "\(keepsAllRows ? "LEFT JOIN" : "JOIN") \(table) ON \(condition)" }

        var keepingAllRows: Join { Join(table, on: condition, keepsAllRows: true) }
    }

    /// Leaves out the rows of deleted hubs.
    private static let hubs = Join("hubs live", on: "live.id = x.shard AND NOT live.is_deleted")

    /// The parts in which the query for a table differs from the query for other tables.
    private struct Form {
        /// The name of the table in the schema, if it is not the name of the moved table.
        var table: String?
        var joins: [Join] = []
        var condition = ""
        var columns: [String: (sql: String, form: CopiedForm)] = [:]
        /// Columns after those of the moved table. `PostgresMoveReader` uses them to complete the row, and removes
        /// them.
        var extras: [(sql: String, form: CopiedForm)] = []
        var order = ""
        /// False if rows of the table are left out on purpose.
        var isOfEachRow = true
    }

    private static let columns: [String: (sql: String, form: CopiedForm)] = [
        "member": (
            "(CASE WHEN n.handles IS NOT NULL THEN 2 WHEN n.platform IS NULL THEN 1 ELSE 0 END)::int8", .integer
        )
    ]

    private static let platform: (sql: String, form: CopiedForm) = ("convert_to(p.name, 'UTF8')", .bytes)

    /// The columns for the platform and the tags of registrations. The tags are spelled as they were given, and
    /// separated by commas. A tag that is missing has an empty name, which `PostgresMoveReader` refuses.
    private static let tags: [String: (sql: String, form: CopiedForm)] = [
        "platform": platform,
        "tags": (
            """
            convert_to(coalesce(x.spelled_tags, (SELECT string_agg(coalesce(t.name, ''), ',' ORDER BY u.n)
                FROM unnest(x.tags) WITH ORDINALITY u (id, n) LEFT JOIN tags t ON t.shard = x.shard AND t.id = u.id), ''),
                'UTF8')
            """, .bytes
        ),
        "tag_numbers": (
            "(SELECT array_agg(u.id & \(UInt32.max) ORDER BY u.n) FROM unnest(x.tags) WITH ORDINALITY u (id, n))",
            .numbers
        ),
    ]

    private static let notification = Form(
        joins: [Join("notifications n", on: "n.shard = x.shard AND n.sequence = x.notification")])
    private static let delivery = Form(
        joins: [
            Join("deliveries d", on: "d.shard = x.shard AND d.id = x.delivery"),
            Join("notifications n", on: "n.shard = x.shard AND n.sequence = d.notification"),
        ])
    private static let platformOfScope = Join("platforms p", on: "p.number = x.scope / 2")

    private static func content(_ column: String) -> Form {
        Form(
            table: "contents",
            joins: [
                Join(
                    """
                    (SELECT shard, \(column) AS id FROM registrations WHERE \(column) IS NOT NULL
                    UNION SELECT shard, \(column) FROM registration_history WHERE \(column) IS NOT NULL) u
                    """, on: "u.shard = x.shard AND u.id = x.id")
            ])
    }

    private static let forms: [String: Form] = [
        "tags": Form(
            joins: [platformOfScope],
            columns: ["platform": platform, "is_template": ("(x.scope % 2)::int8", .integer)]),
        "templates": content("template"),
        "variables": content("variables"),
        // The handle of a channel is read from its registrations, because the table `channels` has only a hash of the
        // key.
        "channels": Form(
            joins: [
                Join("platforms p", on: "p.number = x.platform"),
                Join(
                    """
                    LATERAL (
                        SELECT (array_agg(r.handle))[1] AS handle, max(r.updated_at) AS updated_at FROM registrations r
                        WHERE r.shard = x.shard AND r.scope = ANY(ARRAY[x.platform * 2, x.platform * 2 + 1])
                            AND r.channel = x.channel) h
                    """),
            ],
            columns: [
                "platform": platform, "key": ("x.hash", .bytes), "handle": ("h.handle", .bytes),
                "registered_at": ("greatest(x.registered_at, h.updated_at)", .integer),
            ]),
        // The handle of a former channel is the handle of the last registration that left the channel.
        "former_channels": Form(
            joins: [
                Join(
                    """
                    LATERAL (SELECT r.handle, r.platform FROM registration_history r
                        WHERE r.shard = x.shard AND r.channel = x.channel ORDER BY r.change DESC LIMIT 1) h
                    """),
                Join("platforms p", on: "p.number = h.platform"),
            ],
            columns: ["platform": platform, "key": ("x.hash", .bytes), "handle": ("h.handle", .bytes)],
            isOfEachRow: false),
        "registrations": Form(joins: [platformOfScope], columns: tags),
        "registration_history": Form(joins: [Join("platforms p", on: "p.number = x.platform")], columns: tags),
        "memberships": Form(
            table: "registrations",
            joins: [
                platformOfScope,
                Join(
                    """
                    LATERAL (
                        SELECT convert_to(t.name, 'UTF8') AS name FROM unnest(x.tags) u (id)
                            JOIN tags t ON t.shard = x.shard AND t.id = u.id
                        UNION SELECT '*'::bytea) m
                    """),
            ],
            columns: [
                "platform": platform, "is_template": ("(x.scope % 2)::int8", .integer), "name": ("m.name", .bytes),
                "registration": ("x.sequence", .integer),
            ]),
        "device_keys": Form(
            joins: [Join("registrations r", on: "r.shard = x.shard AND r.sequence = x.registration")]),
        // Tombstones are read in the order in which they will be removed.
        "tombstones": Form(order: "ORDER BY x.shard, x.gone_at"),
        "parts": notification,
        "notification_receipts": notification,
        "deliveries": notification,
        "outcome_counts": delivery,
        "collapses": Form(joins: delivery.joins, extras: [("n.collapse", .bytes)]),
        "ranges": delivery,
        "reached": Form(joins: delivery.joins, condition: "d.is_final IS NOT FALSE"),
        "progress": Form(
            table: "reached", joins: delivery.joins, condition: "NOT d.is_final",
            order: "ORDER BY x.shard, x.delivery, x.place"),
        "page_records": delivery,
        "refusals": delivery,
        "attempts": delivery,
        "retries": delivery,
        "jobs": Form(
            joins: [
                Join(
                    "blobs b",
                    on: """
                        b.space = 0 AND b.container = convert_from(x.input_container, 'UTF8') AND b.name = x.input_name
                        """, keepsAllRows: true)
            ],
            columns: [
                "input_tag": (
                    """
                    CASE WHEN x.input_tag = convert_to('"' || b.content || '"', 'UTF8') THEN '='::bytea ELSE x.input_tag END
                    """, .bytes
                )
            ]),
    ]
}
