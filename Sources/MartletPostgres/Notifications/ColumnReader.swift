import MartletCore
import MartletModel

/// Reads the columns of a row one after another.
struct ColumnReader {
    let row: Row
    private var column: Int32

    init(_ row: Row, from column: Int32 = 0) {
        self.row = row
        self.column = column
    }

    private mutating func next() -> Int32 {
        defer { column += 1 }
        return column
    }

    mutating func integer() -> Int64 { row.integer(next()) }
    mutating func optionalInteger() -> Int64? { row.optionalInteger(next()) }
    mutating func bool() -> Bool { row.bool(next()) }
    mutating func text() -> String { row.text(next()) }
    mutating func optionalText() -> String? { row.optionalText(next()) }
    mutating func bytes() -> [UInt8] { row.bytes(next()) }
    mutating func optionalBytes() -> [UInt8]? { row.optionalBytes(next()) }
    mutating func timestamp() -> Timestamp { row.timestamp(next()) }
    mutating func optionalTimestamp() -> Timestamp? { row.optionalTimestamp(next()) }

    mutating func member() -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: integer()), registration: integer())
    }

    mutating func notificationID() throws(StorageError) -> NotificationID {
        guard let id = NotificationID(bytes: bytes()) else { throw StorageError.unreadable("notification") }
        return id
    }
}

extension StorageError {
    /// Returns the error for a row that this program cannot have written.
    static func unreadable(_ what: String) -> StorageError {
        StorageError(.corrupt, "A stored \(what) cannot be read; restore a backup.")
    }
}

extension NotificationID {
    var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian, Array.init) + withUnsafeBytes(of: low.bigEndian, Array.init)
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(bytes[..<8]), low: word(bytes[8...]))
    }
}
