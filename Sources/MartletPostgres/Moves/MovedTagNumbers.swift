import MartletCore

/// Gives numbers to moved tags. A tag that the source lists keeps its number. A tag that only former states of
/// registrations have, and that the source no longer lists, gets a new number.
struct MovedTagNumbers {
    struct Tag: Hashable {
        var hub: Int64
        var scope: Int32
        /// The name in lower case.
        var name: String
    }

    /// The last tag number of each hub, by the hub's id.
    private(set) var last: [Int64: Int64] = [:]
    /// The tags that got new numbers.
    private(set) var added: [Tag: Int64] = [:]

    init(last: [Int64: Int64] = [:]) {
        self.last = last
    }

    /// Returns the numbers of tags in the form in which rows contain them (`composed`).
    /// - Parameters:
    ///   - text: The tags as they are spelled, separated by commas.
    ///   - known: The known numbers of the tags, in the same order; 0 for a tag without a number.
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

    /// Returns the number of a tag as rows contain it: the upper 32 bits are the number of the shard.
    static func composed(_ hub: Int64, _ number: Int64) -> Int64 { hub << 32 | number }
}
