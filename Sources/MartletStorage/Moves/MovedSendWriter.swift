import MartletCore

/// Writes moved rows that the schema divides among several tables, and moved rows with a list that the schema stores as
/// one text.
struct MovedSendWriter {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    // MARK: Notifications

    func addNotification(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        let author = try row[rows.index("author")].text.map { name throws(StorageError) in try number(of: name) }
        try rows.add(row) { column, value throws(StorageError) in column == "author" ? MovedValue(author) : value }
        let sequence = row[rows.index("sequence")].integer ?? 0
        try connection.run(
            "INSERT INTO messages (notification, body, fields) VALUES (?, ?, ?)", sequence,
            row[rows.index("body")].bytes ?? [], row[rows.index("fields")].bytes ?? [])
        // A notification is a roll-out if it has a pace or a sample.
        let isRollout = ["rate", "duration", "sample_size", "sample_share"].contains { row[rows.index($0)] != .null }
        guard isRollout else { return }
        let columns = MoveQuery.rolloutColumns
        let insert = try connection.take(
            """
            INSERT INTO rollouts (notification, \(columns.joined(separator: ", ")))
            VALUES (?, \(columns.map { _ in "?" }.joined(separator: ", ")))
            """)
        defer { connection.giveBack(insert) }
        try insert.bind(sequence, at: 1)
        for (place, column) in columns.enumerated() {
            try insert.bind(row[rows.index(column)], isText: false, at: Int32(place + 2))
        }
        _ = try insert.step()
    }

    private func number(of author: String) throws(StorageError) -> Int64 {
        let found = try connection.first("SELECT id FROM authors WHERE name = ?", author) { $0.integer(0) }
        if let found { return found }
        try connection.run("INSERT INTO authors (name) VALUES (?)", author)
        return connection.lastInsertedRow
    }

    // MARK: Lists

    /// Adds a row with a list: a user with roles, an operator with roles, or a send with payloads.
    func addWithList(_ row: [MovedValue], _ rows: MovedRowWriter) throws(StorageError) {
        try rows.add(row) { _, value throws(StorageError) in
            guard case .list(let list) = value else { return value }
            let texts = list.map { String(decoding: $0, as: UTF8.self) }
            return MovedValue(
                rows.table.name == "sends" ? texts.map { "\($0)," }.joined() : texts.joined(separator: " "))
        }
        guard rows.table.name == "users" else { return }
        for role in row[rows.index("roles")].list {
            try connection.run(
                "INSERT INTO user_roles (user, role) VALUES (?, ?)", row[rows.index("folded_name")].text ?? "",
                String(decoding: role, as: UTF8.self))
        }
    }
}
