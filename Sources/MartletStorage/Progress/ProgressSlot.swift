import MartletCore
import Synchronization

/// A place for the progress of one small delivery among `ProgressSlots`: a word that says whose it is, then an entry for
/// each member that was reached, from the front on.
///
/// Slots are used again and again, and when power is lost each word on disk is as old as it likes: of the delivery of
/// now, or of one before. An entry that was taken for one of another delivery would lose a push. So each entry says of
/// which delivery it is, by the last 24 bits of its id. Another delivery of the same bits is 16,777,216 deliveries away,
/// and who takes a slot clears it: it would have to be the last that the kernel has ever written of that word.
///
/// Unchecked: the words are only touched atomically, and are there for as long as the `ProgressSlots`.
struct ProgressSlot: @unchecked Sendable {
    static let wordCount = 64
    static let byteCount = wordCount * 8
    /// How many members it has room for.
    static let capacity = wordCount - 1
    /// An entry has the member's number in its lower bits.
    private static let numberBits: UInt64 = 40

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ words: UnsafeMutablePointer<Atomic<UInt64>>) {
        self.words = words
    }

    /// nil where it is free.
    var owner: Delivery.ID? {
        let id = Int64(bitPattern: words[0].load(ordering: .acquiring))
        return id > 0 ? Delivery.ID(rawValue: id) : nil
    }

    /// - Parameter delivery: Whose it is from now on.
    func take(for delivery: Delivery.ID) {
        for index in 1..<Self.wordCount { words[index].store(0, ordering: .relaxed) }
        words[0].store(UInt64(bitPattern: delivery.rawValue), ordering: .releasing)
    }

    func free() {
        words[0].store(0, ordering: .releasing)
    }

    /// Takes out what is not of its owner, so that there are no entries after an empty one. For the start, when nobody
    /// else has it.
    func clean(for owner: Delivery.ID) {
        let entries = entries(of: owner)
        for index in 1..<Self.wordCount {
            words[index].store(index <= entries.count ? entries[index - 1] : 0, ordering: .relaxed)
        }
    }

    /// Whether numbers up to this one can be entered.
    static func holds(_ number: Int64) -> Bool {
        number > 0 && number < 1 << numberBits
    }

    /// - Parameter owner: The caller's: the slot may belong to another by now.
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

    /// - Returns: Whether there was room.
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

    /// What it holds, as it lies in the file.
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

    /// Never 0, which is an empty one: numbers begin at 1.
    private static func entry(_ number: Int64, _ owner: Delivery.ID) -> UInt64 {
        tag(owner) << numberBits | UInt64(number)
    }

    private static func tag(_ owner: Delivery.ID) -> UInt64 {
        UInt64(bitPattern: owner.rawValue) & (1 << (64 - numberBits) - 1)
    }
}
