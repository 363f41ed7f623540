import MartletCore
import Synchronization

/// A slot of `ProgressSlots` with the progress of one small delivery: a word with the id of the delivery that owns the
/// slot, followed by one entry for each member that was reached. Entries are filled from the front; the rest are empty
/// (0).
///
/// Slots are reused. After a loss of power each word on disk can have any age: it may belong to the current delivery or
/// to an earlier one. If an entry of an earlier delivery were accepted, a member of the current delivery would get no
/// push. Therefore each entry contains 24 bits that are computed from the id of its delivery. Two deliveries of a hub
/// with the same 24 bits are at least 16,777,216 deliveries apart, and a slot is cleared when a delivery takes it. So
/// an old entry could only be accepted if the kernel had not written the cleared word to disk in all that time.
///
/// Unchecked: the words are only accessed atomically, and exist for as long as the `ProgressSlots`.
struct ProgressSlot: @unchecked Sendable {
    static let wordCount = 64
    static let byteCount = wordCount * 8
    /// The maximum number of members in a slot.
    static let capacity = wordCount - 1
    /// The number of lower bits of an entry that contain the member's number.
    private static let numberBits: UInt64 = 40

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ words: UnsafeMutablePointer<Atomic<UInt64>>) {
        self.words = words
    }

    /// The delivery that owns the slot; nil if the slot is free.
    var owner: Delivery.ID? {
        let id = Int64(bitPattern: words[0].load(ordering: .acquiring))
        return id > 0 ? Delivery.ID(rawValue: id) : nil
    }

    /// Clears the slot and gives it to a delivery.
    /// - Parameter delivery: The new owner of the slot.
    func take(for delivery: Delivery.ID) {
        for index in 1..<Self.wordCount { words[index].store(0, ordering: .relaxed) }
        words[0].store(UInt64(bitPattern: delivery.rawValue), ordering: .releasing)
    }

    func free() {
        words[0].store(0, ordering: .releasing)
    }

    /// Removes the entries that do not belong to the owner, so that no entry follows an empty one. Called only at the
    /// start, when nothing else uses the slot.
    func clean(for owner: Delivery.ID) {
        let entries = entries(of: owner)
        for index in 1..<Self.wordCount {
            words[index].store(index <= entries.count ? entries[index - 1] : 0, ordering: .relaxed)
        }
    }

    /// Returns whether a member's number is in the range that an entry can store.
    static func holds(_ number: Int64) -> Bool {
        number > 0 && number < 1 << numberBits
    }

    /// Returns true if the slot contains a member's number.
    /// - Parameter owner: The delivery of the caller. The slot may belong to another delivery by now.
    func contains(_ number: Int64, of owner: Delivery.ID) -> Bool {
        guard Self.holds(number) else { return false }
        let wanted = Self.entry(number, owner)
        for index in 1..<Self.wordCount {
            let entry = words[index].load(ordering: .relaxed)
            if entry == wanted { return true }
            if entry == 0 { return false }
        }
        return false
    }

    /// Adds a member's number to the slot, unless it is there already.
    /// - Returns: False if the number is not in the slot, because the slot is full or cannot store this number.
    func insert(_ number: Int64, of owner: Delivery.ID) -> Bool {
        guard Self.holds(number) else { return false }
        let new = Self.entry(number, owner)
        for index in 1..<Self.wordCount {
            let (isDone, found) = words[index].compareExchange(expected: 0, desired: new, ordering: .relaxed)
            if isDone || found == new { return true }
        }
        return false
    }

    func numbers(of owner: Delivery.ID) -> [Int64] {
        entries(of: owner).map { Int64($0 & (1 << Self.numberBits - 1)) }
    }

    /// The content of the slot, in the format of the file.
    var bytes: [UInt8] {
        (0..<Self.wordCount).flatMap { index in
            withUnsafeBytes(of: words[index].load(ordering: .relaxed)) { Array($0) }
        }
    }

    private func entries(of owner: Delivery.ID) -> [UInt64] {
        (1..<Self.wordCount).map { words[$0].load(ordering: .relaxed) }.filter {
            $0 != 0 && $0 >> Self.numberBits == Self.tag(owner)
        }
    }

    /// Returns the entry for a member's number. The entry is never 0, which means empty, because numbers begin at 1.
    private static func entry(_ number: Int64, _ owner: Delivery.ID) -> UInt64 {
        tag(owner) << numberBits | UInt64(number)
    }

    private static func tag(_ owner: Delivery.ID) -> UInt64 {
        // Ids of a shared database have the number of their hub in the upper bits. The number of the hub is mixed into
        // the lower bits, because two hubs may reach the same lower bits soon after each other.
        let id = UInt64(bitPattern: owner.rawValue)
        return (id &+ (id >> 43) &* 0x9E37_79B9) & (1 << (64 - numberBits) - 1)
    }
}
