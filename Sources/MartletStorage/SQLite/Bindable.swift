import CMartletSQLite
import MartletModel

/// A value that can be bound to a parameter of a statement.
protocol Bindable {
    /// Binds the value to a parameter of a statement.
    /// - Returns: SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Bool: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }
}

extension Timestamp: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, milliseconds)
    }
}

extension String: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // `withUTF8` gives the bytes that a text already has. Passing the text as a C string would copy it first.
        var text = self
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // Without an address SQLite would bind NULL.
                guard let start = characters.baseAddress else {
                    return sqlite3_bind_text64(
                        statement, index, "", 0, martlet_SQLITE_TRANSIENT(), UInt8(SQLITE_UTF8))
                }
                return sqlite3_bind_text64(
                    statement, index, start, UInt64(characters.count), martlet_SQLITE_TRANSIENT(), UInt8(SQLITE_UTF8))
            }
        }
    }
}

extension [UInt8]: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return sqlite3_bind_blob64(
                statement, index, start, UInt64(bytes.count), martlet_SQLITE_TRANSIENT())
        }
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, index)
        case .some(let value): value.bind(to: statement, at: index)
        }
    }
}
