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
    /// The tags that got new numbers, and are not stored yet.
    private(set) var added: [Tag: Int64] = [:]
    /// The tags that are stored, although the source does not list them.
    private var former: [Tag: Int64] = [:]
    /// The last number of each hub that the source had assigned at the first copy.
    private var copied: [Int64: Int64]
    /// How far numbers are moved up that the source has assigned later, because new numbers were given in their place.
    private var shifts: [Int64: Int64] = [:]
    /// For numbers of the source that stand for a stored tag with another number: that number, by hub.
    private var replaced: [Int64: [Int64: Int64]] = [:]

    init(last: [Int64: Int64] = [:]) {
        self.last = last
        copied = last
    }

    // MARK: Changes of the source

    /// Records that the tags in `added` have been stored.
    mutating func stored() {
        former.merge(added) { $1 }
        added = [:]
    }

    /// Prepares for rows that the source has changed since the first copy.
    /// - Parameter numbers: The last number of each hub that the source has assigned now.
    mutating func advance(to numbers: [Int64: Int64]) {
        var last: [Int64: Int64] = [:]
        for (hub, number) in numbers {
            let shift = copied[hub].map { (self.last[hub] ?? $0) - $0 } ?? 0
            shifts[hub] = shift
            last[hub] = number + shift
        }
        self.last = last
    }

    /// Returns the number that a tag of the source gets if no tag of its name is stored.
    func shifted(_ number: Int64, in hub: Int64) -> Int64 {
        guard let bound = copied[hub], number > bound else { return number }
        return number + (shifts[hub] ?? 0)
    }

    /// Records that a tag is stored with another number than its number in the source, which is `shifted`.
    mutating func replace(_ number: Int64, by stored: Int64, in hub: Int64) {
        replaced[hub, default: [:]][number] = stored
    }

    /// Records that a tag is stored, although the source does not list it any more.
    mutating func keep(_ tag: Tag, _ number: Int64) {
        former[tag] = number
    }

    private func stored(_ number: Int64, in hub: Int64) -> Int64 {
        let number = shifted(number, in: hub)
        return replaced[hub]?[number] ?? number
    }

    // MARK: Numbers of rows

    /// Returns the numbers of tags in the form in which rows contain them (`composed`).
    /// - Parameters:
    ///   - text: The tags as they are spelled, separated by commas.
    ///   - known: The known numbers of the tags, in the same order; 0 for a tag without a number.
    mutating func numbers(of text: [UInt8], _ known: [Int64], in hub: Int64, scope: Int32) -> [Int64] {
        guard known.contains(0) || (known.isEmpty && !text.isEmpty) else {
            return known.map { Self.composed(hub, stored($0, in: hub)) }
        }
        let names = text.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self).lowercased() }
        return names.enumerated().map { index, name in
            if index < known.count, known[index] != 0 { return Self.composed(hub, stored(known[index], in: hub)) }
            let tag = Tag(hub: hub, scope: scope, name: name)
            if let number = added[tag] ?? former[tag] { return Self.composed(hub, number) }
            let number = (last[hub] ?? 0) + 1
            last[hub] = number
            added[tag] = number
            return Self.composed(hub, number)
        }
    }

    /// Returns the number of a tag as rows contain it: the upper 32 bits are the number of the shard.
    static func composed(_ hub: Int64, _ number: Int64) -> Int64 { hub << 32 | number }
}
