import Glibc
import MartletCore
import Synchronization

/// One file of slots for small deliveries, mapped into memory as long as the process runs. It serves sends to a single
/// user, for which creating and removing a separate file would be most of the work.
///
/// Unchecked: `ProgressSlot` describes how the words are accessed; the other properties never change.
final class ProgressSlots: @unchecked Sendable {
    static let count = 1024
    /// The name of the file with the slots, in the directory of progress maps.
    static let fileName = "slots"

    private let memory: UnsafeMutableRawPointer
    private static let byteCount = count * ProgressSlot.byteCount

    /// Opens the file, and creates it if it does not exist. All of its disk space is allocated at once, because writing
    /// to an unallocated page on a full disk would crash the process.
    /// - Returns: nil if the disk has no space for the file.
    init?(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let error = StorageError(failed: "open", path)
            if error.kind == .full { return nil }
            throw error
        }
        defer { close(descriptor) }
        guard posix_fallocate(descriptor, 0, off_t(Self.byteCount)) == 0 else { return nil }
        let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw StorageError(failed: "map", path) }
        self.memory = memory
        memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.byteCount / 8)
    }

    deinit {
        munmap(memory, Self.byteCount)
    }

    /// Frees all slots except the slots of some deliveries.
    /// - Returns: The slots that are kept, and the free slots.
    func sort(keeping isNeeded: (Delivery.ID) -> Bool) -> (kept: [Delivery.ID: ProgressSlot], free: [ProgressSlot]) {
        var kept: [Delivery.ID: ProgressSlot] = [:]
        var free: [ProgressSlot] = []
        for slot in slots {
            if let owner = slot.owner, isNeeded(owner), kept[owner] == nil {
                slot.clean(for: owner)
                kept[owner] = slot
            } else {
                slot.free()
                free.append(slot)
            }
        }
        return (kept, free)
    }

    private var slots: [ProgressSlot] {
        (0..<Self.count).map { index in
            ProgressSlot(
                (memory + index * ProgressSlot.byteCount).assumingMemoryBound(to: Atomic<UInt64>.self))
        }
    }
}
