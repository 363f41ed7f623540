import CMartletSQLite
import MartletModel

/// A value that can stand for a parameter of a statement.
protocol Bindable {
    /// - Returns: SQLite's result code.
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32
}

extension Int64: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        sqlite3_bind_int64(statement, place, self)
    }
}

extension Int: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        sqlite3_bind_int64(statement, place, Int64(self))
    }
}

extension Bool: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        sqlite3_bind_int64(statement, place, self ? 1 : 0)
    }
}

extension Timestamp: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        sqlite3_bind_int64(statement, place, milliseconds)
    }
}

extension String: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        sqlite3_bind_text64(
            statement, place, self, UInt64(utf8.count), martlet_SQLITE_TRANSIENT(), UInt8(SQLITE_UTF8))
    }
}

extension [UInt8]: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(statement, place, 0) }
            return sqlite3_bind_blob64(
                statement, place, start, UInt64(bytes.count), martlet_SQLITE_TRANSIENT())
        }
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, place)
        case .some(let value): value.bind(to: statement, at: place)
        }
    }
}
