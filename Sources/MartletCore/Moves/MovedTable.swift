/// A kind of rows that is moved from one store to another: what the rows mean, and not how a store divides them into tables.
public struct MovedTable: Hashable, Sendable {
    /// What is done with the rows.
    public enum Use: Hashable, Sendable {
        /// They are copied, and compared afterwards.
        case moved
        /// They are only copied: other rows show whether they are right.
        case copied
        /// They are only compared: the target makes them from other rows.
        case compared
    }

    public struct Column: Hashable, Sendable {
        public let name: String
        /// What the numbers of the column count; nil if they are the same in both stores.
        public let number: ColumnNumber?
        /// Whether both stores must have the same values.
        public let isCompared: Bool
    }

    public let name: String
    public let columns: [Column]
    public let use: Use

    /// - Parameter columns: The names of the columns, separated by spaces. A name is followed by `:` and what the numbers
    ///   of the column count, and by `!` if its values are not compared.
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

    /// Whether the rows belong to hubs. Then the first column is the hub.
    public var isOfHub: Bool { columns[0].name == "shard" }

    /// The place of a column in the rows.
    public func index(of column: String) -> Int? { columns.firstIndex { $0.name == column } }
}

/// What the numbers of a column count.
///
/// A store may number the rows of all hubs together, or those of each hub from 1. Rows that are moved have the numbers of
/// their hub; the store that numbers all hubs together adds a distance for each hub (`MovedNumbers`).
public enum ColumnNumber: Hashable, Sendable {
    case row(MovedNumber)
    /// The channel of a member of a delivery; nothing is added in a direct send, whose members have no channel.
    case memberChannel
    /// The registration of a member of a delivery, or in a direct send its place in the list of handles.
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
    /// By places in a list of handles.
    case direct = 2
}
