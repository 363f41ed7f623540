/// A kind of rows that is moved from one store to another. It is defined by the meaning of the rows; a store may divide
/// them into other tables.
public struct MovedTable: Hashable, Sendable {
    /// Whether the rows are copied, compared, or both.
    public enum Use: Hashable, Sendable {
        /// The rows are copied, and compared afterwards.
        case moved
        /// The rows are only copied. The comparison of other rows shows whether they are right.
        case copied
        /// The rows are only compared, because the target derives them from other rows.
        case compared
    }

    public struct Column: Hashable, Sendable {
        public let name: String
        /// The kind of the numbers in the column; nil if the values are the same in both stores.
        public let number: ColumnNumber?
        /// Whether both stores must have the same values.
        public let isCompared: Bool
    }

    public let name: String
    public let columns: [Column]
    public let use: Use

    /// - Parameter columns: The names of the columns, separated by spaces. A name may be followed by `:` and the kind
    ///   of the numbers in the column, and by `!` if its values are not compared.
    init(_ name: String, _ columns: String, use: Use = .moved) {
        self.name = name
        self.use = use
        self.columns = columns.split(whereSeparator: \.isWhitespace).map { word in
            let isCompared = !word.hasSuffix("!")
            let parts = (isCompared ? word : word.dropLast()).split(separator: ":")
            return Column(
                name: String(parts[0]), number: parts.count > 1 ? ColumnNumber(String(parts[1])) : nil,
                isCompared: isCompared)
        }
    }

    /// Whether the rows belong to hubs. If so, the first column is the id of the hub.
    public var isOfHub: Bool { columns[0].name == "shard" }

    /// Returns the index of a column in a row; nil if the table has no such column.
    public func index(of column: String) -> Int? { columns.firstIndex { $0.name == column } }
}

/// The kind of the numbers in a column, that is, the kind of row to which they refer.
///
/// A store may number the rows of all hubs in one sequence, or the rows of each hub from 1. Rows that are moved have
/// numbers within their hub. A store with one sequence adds a distance for each hub (`MovedNumbers`).
public enum ColumnNumber: Hashable, Sendable {
    case row(MovedNumber)
    /// The channel of a member of a delivery. In a direct send no distance is added, because its members have no
    /// channel.
    case memberChannel
    /// The registration of a member of a delivery. In a direct send, the index of the member in the list of handles.
    case memberRegistration
    /// The index of a block of `DeliveredBitmap.size` member numbers.
    case place

    init?(_ text: String) {
        switch text {
        case "member-channel": self = .memberChannel
        case "member-registration": self = .memberRegistration
        case "place": self = .place
        default:
            guard let number = MovedNumber(rawValue: text) else { return nil }
            self = .row(number)
        }
    }
}

/// How the members of a delivery are numbered: the column `member` of rows that belong to a delivery.
public enum MemberNumbering: Int64, Sendable {
    /// By channels.
    case native = 0
    /// By registrations.
    case template = 1
    /// By indexes in the list of handles.
    case direct = 2
}
