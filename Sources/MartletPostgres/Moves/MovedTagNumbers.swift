import MartletCore

/// The numbers of tags. Tags of registrations keep those that they have; tags that only former states have, and the source
/// does not list any more, get new ones.
struct MovedTagNumbers {
    struct Tag: Hashable {
        var hub: Int64
        var scope: Int32
        /// In lower case.
        var name: String
    }

    /// The last number of each hub.
    private(set) var last: [Int64: Int64] = [:]
    /// The tags that got new numbers.
    private(set) var added: [Tag: Int64] = [:]

    init(last: [Int64: Int64] = [:]) {
        self.last = last
    }

    /// Returns the numbers of tags as rows have them.
    /// - Parameters:
    ///   - text: The tags as they are spelled, separated by commas.
    ///   - known: Their numbers in this order; 0 for a tag without one.
    mutating func numbers(of text: [UInt8], _ known: [Int64], in hub: Int64, scope: Int32) -> [Int64] {
        guard known.contains(0) || (known.isEmpty && !text.isEmpty) else {
            return known.map { Self.composed(hub, $0) }
        }
        let names = text.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self).lowercased() }
        return names.enumerated().map { index, name in
            if index < known.count, known[index] != 0 { return Self.composed(hub, known[index]) }
            let tag = Tag(hub: hub, scope: scope, name: name)
            if let number = added[tag] { return Self.composed(hub, number) }
            let number = (last[hub] ?? 0) + 1
            last[hub] = number
            added[tag] = number
            return Self.composed(hub, number)
        }
    }

    /// The number of a tag has its shard in the upper half.
    static func composed(_ hub: Int64, _ number: Int64) -> Int64 { hub << 32 | number }
}
