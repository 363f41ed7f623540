import CMartletSQLite
import MartletCore
import MartletModel

/// A prepared statement with its current row, which exists after `step` has returned true. It belongs to its connection
/// and therefore to one thread.
final class Statement {
    /// The list to which the statement is given back.
    let siblings: IdleStatements
    private let handle: OpaquePointer
    private let database: OpaquePointer

    init(
        _ sql: String, in database: OpaquePointer, idlingAmong siblings: IdleStatements
    ) throws(StorageError) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw StorageError(sqlite: code, database: database) }
        self.siblings = siblings
        self.database = database
        handle = statement
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Binds a value to a parameter.
    /// - Parameter index: The index of the parameter, starting at 1.
    func bind(_ value: some Bindable, at index: Int32) throws(StorageError) {
        let code = value.bind(to: handle, at: index)
        guard code == SQLITE_OK else { throw StorageError(sqlite: code, database: database) }
    }

    /// Binds the value of a column of another statement's row, or null if there is no row.
    func bind(_ row: Statement?, column: Int32, at index: Int32) throws(StorageError) {
        let code =
            if let row { sqlite3_bind_value(handle, index, sqlite3_column_value(row.handle, column)) } else {
                sqlite3_bind_null(handle, index)
            }
        guard code == SQLITE_OK else { throw StorageError(sqlite: code, database: database) }
    }

    /// Advances to the next row.
    /// - Returns: Whether there is a next row.
    func step() throws(StorageError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw StorageError(sqlite: code, database: database)
        }
    }

    /// Ends the execution, so that the statement can be bound and stepped again and does not keep a snapshot open.
    func reset() {
        sqlite3_reset(handle)
    }

    /// Ends the execution and releases the bound values.
    func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

// MARK: The row

extension Statement {
    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    var columnCount: Int32 { sqlite3_column_count(handle) }

    /// The type of a column's value, as SQLite numbers them.
    func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }

    func isBlob(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_BLOB
    }

    func isInteger(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_INTEGER
    }

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    func bool(_ column: Int32) -> Bool {
        integer(column) != 0
    }

    func timestamp(_ column: Int32) -> Timestamp {
        Timestamp(milliseconds: integer(column))
    }

    func optionalTimestamp(_ column: Int32) -> Timestamp? {
        isNull(column) ? nil : timestamp(column)
    }

    func text(_ column: Int32) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        withBytes(column) { Array($0) }
    }

    /// Calls `read` with the bytes of a blob or a text. The bytes are valid only during this call.
    func withBytes<Value>(_ column: Int32, _ read: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return read(UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count))
    }
}
