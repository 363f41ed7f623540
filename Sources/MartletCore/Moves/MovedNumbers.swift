/// The kinds of rows that a store numbers.
public enum MovedNumber: String, CaseIterable, Hashable, Sendable {
    case channels, registrations, changes, installations, tags, contents, notifications, deliveries, campaigns, jobs
    /// The number of the last change whose former state was removed. It is one of the numbers of `changes`.
    case forgotten
}

/// The last number that a store has assigned to each kind of row. The store never assigns these and smaller numbers
/// again.
public struct MovedNumbers: Sendable {
    public var hubs: Int64 = 0
    public var operatorActions: Int64 = 0
    public var payloadAudit: Int64 = 0
    /// The last numbers within each hub, by the id of the hub.
    public var ofHub: [Int64: [MovedNumber: Int64]] = [:]

    public init() {}

    /// The distances that are added to the numbers of each hub, so that no two hubs have a number in common. All
    /// distances are multiples of `DeliveredBitmap.size`, so that members of the same block stay in one block. Tags have no
    /// distances, because a store with one sequence numbers them anew.
    public var distances: [Int64: [MovedNumber: Int64]] {
        var distances: [Int64: [MovedNumber: Int64]] = [:]
        for kind in MovedNumber.allCases where kind != .forgotten && kind != .tags {
            var end: Int64 = 0
            for (hub, numbers) in ofHub.sorted(by: { $0.key < $1.key }) {
                distances[hub, default: [:]][kind] = end
                let last = numbers[kind] ?? 0
                end += (last / DeliveredBitmap.size + 1) * DeliveredBitmap.size
            }
        }
        return distances.mapValues { own in
            var own = own
            own[.forgotten] = own[.changes]
            return own
        }
    }

    /// Adds distances to the numbers in a row of a table, or subtracts them.
    /// - Parameters:
    ///   - distances: The distances of the hub to which the row belongs.
    ///   - sign: 1 to add the distances, -1 to subtract them.
    public static func shift(
        _ row: inout [MovedValue], of table: MovedTable, by distances: [MovedNumber: Int64], sign: Int64
    ) {
        let member = table.index(of: "member").flatMap { row[$0].integer }.flatMap(MemberNumbering.init) ?? .native
        for (index, column) in table.columns.enumerated() {
            guard let number = column.number else { continue }
            let (kind, size): (MovedNumber?, Int64) =
                switch number {
                case .row(let kind): (kind, 1)
                case .memberChannel: (member == .direct ? nil : .channels, 1)
                case .memberRegistration: (member == .direct ? nil : .registrations, 1)
                case .place:
                    (member == .direct ? nil : member == .native ? .channels : .registrations, DeliveredBitmap.size)
                }
            guard let kind, let distance = distances[kind], distance != 0 else { continue }
            let isPlace = size > 1
            switch row[index] {
            case .integer(let value) where isPlace || (value != 0 && value != .max):
                row[index] = .integer(value + sign * distance / size)
            case .numbers(let values): row[index] = .numbers(values.map { $0 + sign * distance })
            default: break
            }
        }
    }
}
