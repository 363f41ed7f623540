import CMartletSQLite
import Glibc

/// Comparison of the current rows of two statements with the same columns.
extension Statement {
    /// Returns whether all columns have the same types and values.
    func isRow(equalTo other: Statement) -> Bool {
        for column in 0..<columnCount where !isColumn(column, equalTo: other) { return false }
        return true
    }

    private func isColumn(_ column: Int32, equalTo other: Statement) -> Bool {
        let type = self.type(column)
        guard type == other.type(column) else { return false }
        switch type {
        case SQLITE_NULL: return true
        case SQLITE_INTEGER: return integer(column) == other.integer(column)
        default:
            return withBytes(column) { own in
                other.withBytes(column) { its in
                    own.count == its.count
                        && (own.isEmpty || memcmp(own.baseAddress!, its.baseAddress!, own.count) == 0)
                }
            }
        }
    }

    /// Returns a number below, equal to or above 0 if the row comes before, with or after that of another statement, in
    /// the order in which SQLite sorts by the given columns.
    func order(to other: Statement, by columns: [Int32]) -> Int {
        for column in columns {
            let order = order(of: column, to: other)
            if order != 0 { return order }
        }
        return 0
    }

    private func order(of column: Int32, to other: Statement) -> Int {
        let (own, its) = (Self.rank(of: type(column)), Self.rank(of: other.type(column)))
        guard own == its else { return own - its }
        switch type(column) {
        case SQLITE_NULL: return 0
        case SQLITE_INTEGER:
            let (own, its) = (integer(column), other.integer(column))
            return own < its ? -1 : own > its ? 1 : 0
        default:
            return withBytes(column) { own in
                other.withBytes(column) { its in
                    let common = min(own.count, its.count)
                    let order = common == 0 ? 0 : Int(memcmp(own.baseAddress!, its.baseAddress!, common))
                    return order != 0 ? order : own.count - its.count
                }
            }
        }
    }

    /// Returns the place of a type among the types, in SQLite's order of values.
    private static func rank(of type: Int32) -> Int {
        switch type {
        case SQLITE_NULL: 0
        case SQLITE_TEXT: 2
        case SQLITE_BLOB: 3
        default: 1
        }
    }
}
