import MartletCore
import Synchronization

/// The progress map of a small delivery, stored in a slot. If the delivery does not fit into the slot, because more
/// devices match now than when the slot was taken, the delivery also gets a file, like a large delivery.
final class SlotProgressMap: ProgressMap {
    let slot: ProgressSlot
    private let owner: Delivery.ID
    /// Keeps the memory of the slot mapped.
    private let slots: ProgressSlots
    private let openFile: @Sendable () throws(StorageError) -> FileProgressMap
    private let overflow: Locked<Overflow>
    /// False as long as no member is stored outside the slot. While false, `contains` does not take the lock.
    private let hasOverflow: Atomic<Bool>

    private struct Overflow {
        var file: FileProgressMap?
        /// The numbers of members that are only stored in memory, because the file cannot be opened. They are lost when
        /// the process ends.
        var numbers: Set<Int64> = []
    }

    /// Creates the map of a delivery.
    /// - Parameters:
    ///   - hasFile: Whether some of the delivery's members are stored in a file.
    ///   - openFile: Opens the file, or creates it.
    init(
        _ slot: ProgressSlot, of owner: Delivery.ID, in slots: ProgressSlots, hasFile: Bool,
        openFile: @escaping @Sendable () throws(StorageError) -> FileProgressMap
    ) {
        self.slot = slot
        self.owner = owner
        self.slots = slots
        self.openFile = openFile
        overflow = Locked(Overflow())
        hasOverflow = Atomic(hasFile)
    }

    func contains(_ member: AudienceMember) -> Bool {
        if slot.contains(member.number, of: owner) { return true }
        guard hasOverflow.load(ordering: .acquiring) else { return false }
        return withOverflow { $0.file?.contains(member) ?? false || $0.numbers.contains(member.number) }
    }

    func insert(_ member: AudienceMember) {
        if slot.insert(member.number, of: owner) { return }
        withOverflow { overflow in
            if let file = overflow.file, file.holds(member.number) {
                file.insert(member)
            } else {
                overflow.numbers.insert(member.number)
            }
        }
        hasOverflow.store(true, ordering: .releasing)
    }

    var blocks: [DeliveredBitmap] {
        var numbers = Set(slot.numbers(of: owner))
        if hasOverflow.load(ordering: .acquiring) {
            withOverflow { numbers.formUnion($0.numbers.union($0.file?.numbers ?? [])) }
        }
        return DeliveredBitmap.blocks(of: numbers)
    }

    private func withOverflow<Result>(_ body: (inout Overflow) -> Result) -> Result {
        overflow.withLock { overflow in
            if overflow.file == nil { overflow.file = try? openFile() }
            return body(&overflow)
        }
    }
}
