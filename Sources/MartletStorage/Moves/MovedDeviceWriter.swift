import MartletCore
import MartletModel

/// Writes moved rows about devices. The schema stores these rows in a different form than `MovedTable`, and in part in
/// other tables.
struct MovedDeviceWriter {
    private let connection: Connection
    /// The highest number of a tag so far.
    private var lastTag: Int64 = 0
    /// The numbers of the tags of each hub, by the numbers with which they were moved. Tags are numbered anew, because
    /// PostgreSQL has only 2³² numbers for the tags of a hub, and distances would use them up in a few moves.
    private var tags: [Int64: [Int64: Int64]] = [:]
    /// The number of the tag that stands for all registrations of a scope, for each scope.
    private var everyone: [Scope: Int64] = [:]
    /// The push variables that share a row of `contents` with a template, because both have the same bytes. The key is
    /// the number with which the variables were moved; the value is the number of the shared row.
    private var mergedVariables: [Int64: Int64] = [:]

    private struct Scope: Hashable {
        var hub: Int64
        var platform: String
        var isTemplate: Bool
    }

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// The reverse of `mergedVariables`. The key is the number of a shared row; the value is the number with which its
    /// variables were moved.
    var splitVariables: [Int64: Int64] {
        Dictionary(mergedVariables.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func add(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        switch rows.table.name {
        case "tags": try addTag(row, rows)
        case "templates", "variables": try addContent(row, rows)
        case "channels": try addChannel(row, rows)
        case "former_channels": try addFormerChannel(row, rows)
        case "installations": try addInstallation(row, rows)
        case "registrations": try addRegistration(row, rows)
        default: try addFormerState(row, rows)
        }
    }

    private mutating func addTag(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        lastTag += 1
        tags[row[0].integer ?? 0, default: [:]][row[rows.index("id")].integer ?? 0] = lastTag
        var row = row
        row[rows.index("id")] = .integer(lastTag)
        try rows.add(row)
    }

    private mutating func addContent(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        let moved = row[rows.index("content")].bytes ?? []
        let bytes =
            rows.table.name == "templates"
            ? TemplateCoding.encode(try MovedContent.template(moved))
            : StringMapCoding.encode(try MovedContent.variables(moved))
        let (hub, id) = (row[0].integer ?? 0, row[rows.index("id")].integer ?? 0)
        try connection.run(
            "INSERT INTO contents (id, hub, content, uses) VALUES (?, ?, ?, 0) ON CONFLICT (hub, content) DO NOTHING",
            id,
            hub, bytes)
        guard connection.changes == 0 else { return }
        let other = try connection.first(
            "SELECT id FROM contents WHERE hub = ? AND content = ?", hub, bytes
        ) { $0.integer(0) }
        if let other { mergedVariables[id] = other }
    }

    private func addChannel(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        let statement = try connection.take(
            """
            INSERT INTO channels (id, hub, platform, key, handle, registered_at, is_suspected) VALUES (?, ?, ?, ?, ?, ?, ?)
            """)
        defer { connection.giveBack(statement) }
        let (key, handle) = (row[rows.index("key")], row[rows.index("handle")])
        try statement.bind(row[rows.index("channel")], isText: false, at: 1)
        try statement.bind(row[0], isText: false, at: 2)
        try statement.bind(row[rows.index("platform")], isText: true, at: 3)
        try statement.bind(form: key, at: 4)
        try statement.bind(form: handle == key ? .null : handle, at: 5)
        try statement.bind(row[rows.index("registered_at")], isText: false, at: 6)
        let isSuspected = row[rows.index("is_suspected")] == .integer(1)
        try statement.bind(isSuspected ? .integer(1) : .null, isText: false, at: 7)
        _ = try statement.step()
    }

    private func addFormerChannel(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        let statement = try connection.take(
            "INSERT INTO former_channels (id, hub, platform, ending) VALUES (?, ?, ?, substr(?, -32))")
        defer { connection.giveBack(statement) }
        try statement.bind(row[rows.index("channel")], isText: false, at: 1)
        try statement.bind(row[0], isText: false, at: 2)
        try statement.bind(row[rows.index("platform")], isText: true, at: 3)
        try statement.bind(form: row[rows.index("key")], at: 4)
        _ = try statement.step()
    }

    private func addInstallation(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        try rows.add(row)
        for slot in row[rows.index("dead_slots")].list {
            try connection.run(
                "INSERT INTO dead_slots (installation, slot) VALUES (?, ?)",
                row[rows.index("sequence")].integer ?? 0, String(decoding: slot, as: UTF8.self))
        }
    }

    private mutating func addRegistration(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        try addState(row, rows)
        let (channel, sequence) = (row[rows.index("channel")], row[rows.index("sequence")])
        let scope = Scope(
            hub: row[0].integer ?? 0, platform: row[rows.index("platform")].text ?? "",
            isTemplate: row[rows.index("template")] != .null)
        let insert = try connection.take(
            "INSERT OR IGNORE INTO tag_members (tag, channel, registration) VALUES (?, ?, ?)")
        defer { connection.giveBack(insert) }
        try insert.bind(channel, isText: false, at: 2)
        try insert.bind(sequence, isText: false, at: 3)
        var numbers = [try everyone(in: scope)]
        for tag in row[rows.index("tag_numbers")].numbers {
            guard let number = tags[scope.hub]?[tag] else {
                throw StorageError(
                    .corrupt, "A registration has a tag that does not exist. Restore a backup. Nothing was completed.")
            }
            numbers.append(number)
        }
        for number in numbers {
            try insert.bind(number, at: 1)
            _ = try insert.step()
            insert.reset()
        }
    }

    private func addFormerState(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        try addState(row, rows)
    }

    /// Inserts a row of `registrations` or `registration_history`.
    private func addState(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        let isHistory = rows.table.name == "registration_history"
        let columns =
            isHistory
            ? [
                "shard", "change", "sequence", "id", "installation", "platform", "channel", "handle", "tags",
                "template",
                "variables", "expires_at", "created_at", "ended_at", "cause",
            ]
            : [
                "shard", "sequence", "id", "channel", "version", "tags", "created_at", "updated_at", "expires_at",
                "template", "variables", "secondary_tile", "installation", "slot",
            ]
        let texts: Set<String> = ["platform", "tags", "cause", "secondary_tile", "slot"]
        let names = columns.map { $0 == "shard" ? "hub" : $0 }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let statement = try connection.take("INSERT INTO \(rows.table.name) (\(names)) VALUES (\(places))")
        defer { connection.giveBack(statement) }
        for (place, column) in columns.enumerated() {
            let (value, index) = (row[rows.index(column)], Int32(place + 1))
            switch column {
            case "id", "handle": try statement.bind(form: value, at: index)
            case "variables":
                let merged = value.integer.flatMap { mergedVariables[$0] }
                try statement.bind(merged.map(MovedValue.integer) ?? value, isText: false, at: index)
            default:
                let isText = texts.contains(column) || (isHistory && column == "installation")
                try statement.bind(value, isText: isText, at: index)
            }
        }
        _ = try statement.step()
    }

    /// Returns the number of the tag that stands for all registrations of a scope. Makes the tag at the first call for
    /// the scope.
    private mutating func everyone(in scope: Scope) throws(StorageError) -> Int64 {
        if let known = everyone[scope] { return known }
        lastTag += 1
        everyone[scope] = lastTag
        try connection.run(
            "INSERT INTO tags (hub, name, is_template, platform, id) VALUES (?, ?, ?, ?, ?)", scope.hub,
            TagTable.everyone, scope.isTemplate, scope.platform, lastTag)
        return lastTag
    }

    /// Completes the tables after all rows have been added. Sets the counter of tags and the use counts of contents,
    /// and removes tags without members and contents without uses.
    func end() throws(StorageError) {
        try connection.run("UPDATE tag_counter SET last = ?", lastTag)
        try connection.execute(
            """
            DELETE FROM tags WHERE NOT EXISTS (SELECT 1 FROM tag_members WHERE tag = tags.id);
            CREATE TEMP TABLE uses (id INTEGER PRIMARY KEY, count INTEGER NOT NULL);
            INSERT INTO uses SELECT id, count(*) FROM (
                SELECT template AS id FROM registrations WHERE template IS NOT NULL
                UNION ALL SELECT variables FROM registrations WHERE variables IS NOT NULL
                UNION ALL SELECT template FROM registration_history WHERE template IS NOT NULL
                UNION ALL SELECT variables FROM registration_history WHERE variables IS NOT NULL) GROUP BY id;
            UPDATE contents SET uses = ifnull((SELECT count FROM uses WHERE uses.id = contents.id), 0);
            DELETE FROM contents WHERE uses = 0;
            DROP TABLE uses;
            """)
    }
}
