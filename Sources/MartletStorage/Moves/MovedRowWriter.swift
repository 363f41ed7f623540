import MartletCore

/// Writes rows of a moved table to the table of the schema with the same name, column by column.
struct MovedRowWriter {
    let table: MovedTable
    private let connection: Connection
    private let sql: String
    private let columns: [(index: Int, name: String, type: String)]

    init(_ table: MovedTable, _ connection: Connection) throws(StorageError) {
        self.table = table
        self.connection = connection
        let types = try connection.all("SELECT name, type FROM pragma_table_info(?)", table.name) { row in
            (row.text(0), row.text(1))
        }
        let byName = Dictionary(types, uniquingKeysWith: { first, _ in first })
        columns = table.columns.enumerated().compactMap { index, column in
            let name = MoveQuery.name(of: column.name, in: table)
            return byName[name].map { (index, name, $0) }
        }
        let extra = table.name == "collapses" ? ", is_latest" : ""
        sql = """
            INSERT INTO \(table.name) (\(columns.map { "\"\($0.name)\"" }.joined(separator: ", "))\(extra))
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", "))\(extra.isEmpty ? "" : ", 0"))
            """
    }

    func index(_ column: String) -> Int { table.index(of: column) ?? 0 }

    /// Inserts a row.
    /// - Parameter change: Converts a moved value to the form of the schema, given the name of the column in the
    ///   schema.
    func add(
        _ row: [MovedValue], changing change: (String, MovedValue) throws(StorageError) -> MovedValue = { $1 }
    ) throws(StorageError) {
        let statement = try connection.take(sql)
        defer { connection.giveBack(statement) }
        for (place, column) in columns.enumerated() {
            let value = try change(column.name, row[column.index])
            if column.type == "ANY" {
                try statement.bind(form: value, at: Int32(place + 1))
            } else {
                try statement.bind(value, isText: column.type == "TEXT", at: Int32(place + 1))
            }
        }
        _ = try statement.step()
    }
}

extension Statement {
    /// Binds a value.
    /// - Parameter isText: Whether bytes are bound as a text in UTF-8, instead of as a blob.
    func bind(_ value: MovedValue, isText: Bool, at index: Int32) throws(StorageError) {
        switch value {
        case .null, .list, .numbers: try bind(Int64?.none, at: index)
        case .integer(let number): try bind(number, at: index)
        case .bytes(let bytes) where isText: try bind(String(decoding: bytes, as: UTF8.self), at: index)
        case .bytes(let bytes): try bind(bytes, at: index)
        }
    }

    /// Binds a handle or an id in its moved form. The first byte of this form is 1 if a text follows, and 0 if the
    /// packed bytes follow.
    func bind(form value: MovedValue, at index: Int32) throws(StorageError) {
        guard let bytes = value.bytes, let first = bytes.first else { return try bind(Int64?.none, at: index) }
        try bind(.bytes(Array(bytes.dropFirst())), isText: first == 1, at: index)
    }
}

extension StoredHandle {
    /// The handle in its moved form: a byte that is 0 for packed bytes and 1 for a text, and then these bytes or this
    /// text.
    var moved: MovedValue {
        switch self {
        case .packed(let bytes): .bytes([0] + bytes)
        case .text(let text): .bytes([1] + Array(text.utf8))
        }
    }
}

extension StoredID {
    /// The id in its moved form: a byte that is 0 for packed bytes and 1 for a text, and then these bytes or this text.
    var moved: MovedValue {
        switch self {
        case .packed(let bytes): .bytes([0] + bytes)
        case .text(let text): .bytes([1] + Array(text.utf8))
        }
    }
}
