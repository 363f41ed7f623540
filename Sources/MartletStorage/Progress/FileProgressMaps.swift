import Glibc
public import MartletCore

/// Progress maps as files in one directory: one file for all small deliveries, and one file for each large delivery.
/// The file of a large delivery is mapped into memory only while it is in use, because many deliveries can be waiting
/// and each open map uses a descriptor.
public final class FileProgressMaps: ProgressMaps {
    private let directory: String
    /// The slots for small deliveries; nil if the disk has no space for them. Then every delivery has its own file.
    private let slots: ProgressSlots?
    private let state: Locked<State>
    private let allocate: FileProgressMap.Allocation

    private struct State {
        var free: [ProgressSlot] = []
        /// The deliveries whose map is in a slot.
        var slotted: [Delivery.ID: Slotted] = [:]
        /// The deliveries that have their own file.
        var files: Set<Delivery.ID> = []
        /// The maps that are in use. An open map is shared, because only the map that wrote a file knows which of the
        /// file's pages are allocated.
        var opened: [Delivery.ID: Opened] = [:]
        /// The maps with bits that are only in memory, because the disk is full.
        var homeless: [Delivery.ID: FileProgressMap] = [:]
        /// The number of backups in progress.
        var readers = 0
        /// The deliveries whose maps were removed while a backup was in progress. Slots and files are kept for the
        /// backups, and dropped when the last of these has ended.
        var over: Set<Delivery.ID> = []

        func hasMap(of delivery: Delivery.ID) -> Bool {
            (slotted[delivery] != nil || files.contains(delivery)) && !over.contains(delivery)
        }
    }

    private struct Slotted {
        let slot: ProgressSlot
        /// The map of the slot; nil for a slot that an earlier process filled, until its map is requested.
        var map: SlotProgressMap?
    }

    private struct Opened {
        weak var map: FileProgressMap?
    }

    /// Opens the maps in a directory.
    /// - Parameter unfinished: The deliveries whose maps are still needed; other maps are removed.
    public convenience init(in directory: String, keeping unfinished: [Delivery.ID]) throws(StorageError) {
        try self.init(in: directory, keeping: unfinished) { posix_fallocate($0, $1, $2) }
    }

    /// Opens the maps in a directory.
    /// - Parameter isNeeded: Whether the map of a delivery is still needed; other maps are removed.
    public convenience init(in directory: String, where isNeeded: (Delivery.ID) -> Bool) throws(StorageError) {
        try self.init(in: directory, where: isNeeded) { posix_fallocate($0, $1, $2) }
    }

    convenience init(
        in directory: String, keeping unfinished: [Delivery.ID], allocate: @escaping FileProgressMap.Allocation
    ) throws(StorageError) {
        let needed = Set(unfinished)
        try self.init(in: directory, where: { needed.contains($0) }, allocate: allocate)
    }

    private init(
        in directory: String, where isNeeded: (Delivery.ID) -> Bool, allocate: @escaping FileProgressMap.Allocation
    ) throws(StorageError) {
        self.directory = directory
        self.allocate = allocate
        var state = State()
        for name in try StorageDirectory.entries(of: directory) where name != ProgressSlots.fileName {
            if let id = Int64(name).map(Delivery.ID.init(rawValue:)), String(id.rawValue) == name, isNeeded(id) {
                state.files.insert(id)
            } else {
                unlink("\(directory)/\(name)")
            }
        }
        slots = try ProgressSlots("\(directory)/\(ProgressSlots.fileName)")
        if let (kept, free) = slots?.sort(keeping: isNeeded) {
            state.slotted = kept.mapValues { Slotted(slot: $0) }
            state.free = free
        }
        self.state = Locked(state)
    }

    public func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap {
        try state.withLock { state throws(StorageError) in
            try map(for: delivery, through: lastNumber, expecting: count, &state)
        }
    }

    private func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?, _ state: inout State
    ) throws(StorageError) -> any ProgressMap {
        // A delivery that goes on after its map was removed has sent nothing before, so no backup needs that map.
        if state.over.remove(delivery) != nil, Self.drop(delivery, &state) { try removeFile(of: delivery) }
        if let map = slotMap(for: delivery, through: lastNumber, expecting: count, &state) { return map }
        return try file(for: delivery, through: lastNumber, &state)
    }

    private func slotMap(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?, _ state: inout State
    ) -> SlotProgressMap? {
        guard let slots else { return nil }
        if state.slotted[delivery] == nil {
            guard let count, count <= ProgressSlot.capacity, ProgressSlot.holds(lastNumber),
                !state.files.contains(delivery), let slot = state.free.popLast()
            else { return nil }
            slot.take(for: delivery)
            state.slotted[delivery] = Slotted(slot: slot)
        }
        guard let slotted = state.slotted[delivery] else { return nil }
        if let map = slotted.map { return map }
        let map = SlotProgressMap(
            slotted.slot, of: delivery, in: slots, hasFile: state.files.contains(delivery)
        ) { [weak self] () throws(StorageError) in
            guard let self else { throw StorageError(.closed, "The storage is closed.") }
            return try self.state.withLock { state throws(StorageError) in
                try self.file(for: delivery, through: lastNumber, &state)
            }
        }
        state.slotted[delivery]?.map = map
        return map
    }

    private func file(
        for delivery: Delivery.ID, through lastNumber: Int64, _ state: inout State
    ) throws(StorageError) -> FileProgressMap {
        if let map = state.homeless[delivery] ?? state.opened[delivery]?.map, map.holds(lastNumber) { return map }
        let map = try FileProgressMap(path(of: delivery), through: lastNumber, allocate: allocate) { [weak self] map in
            self?.state.withLock { $0.homeless[delivery] = map }
        }
        state.files.insert(delivery)
        state.opened[delivery] = Opened(map: map)
        return map
    }

    /// Whether the files have all members of the maps that have a file of their own. False if the disk was full.
    var areOnDisk: Bool { state.withLock(\.homeless.isEmpty) }

    public func existingMap(
        for delivery: Delivery.ID, through lastNumber: Int64
    ) throws(StorageError) -> (any ProgressMap)? {
        try state.withLock { state throws(StorageError) in
            state.hasMap(of: delivery)
                ? try map(for: delivery, through: lastNumber, expecting: nil, &state) : nil
        }
    }

    public func hasMap(of delivery: Delivery.ID) -> Bool {
        state.withLock { $0.hasMap(of: delivery) }
    }

    public func remove(_ delivery: Delivery.ID) throws(StorageError) {
        let hadFile = state.withLock { state in
            state.homeless[delivery] = nil
            state.opened[delivery] = nil
            guard state.readers > 0 else { return Self.drop(delivery, &state) }
            state.over.insert(delivery)
            return false
        }
        if hadFile { try removeFile(of: delivery) }
    }

    /// Forgets the map of a delivery and frees its slot.
    /// - Returns: Whether there is also a file to remove.
    private static func drop(_ delivery: Delivery.ID, _ state: inout State) -> Bool {
        if let slot = state.slotted.removeValue(forKey: delivery)?.slot {
            slot.free()
            state.free.append(slot)
        }
        return state.files.remove(delivery) != nil
    }

    private func removeFile(of delivery: Delivery.ID) throws(StorageError) {
        let path = path(of: delivery)
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError(failed: "remove", path) }
    }

    // MARK: Backups

    /// Keeps all maps, even those of deliveries that end, until `release` has been called as often as `hold`. Used for
    /// a backup.
    func hold() {
        state.withLock { $0.readers += 1 }
    }

    /// Ends a `hold`. A map that cannot be removed now is removed at the next start.
    func release() {
        let hadFiles = state.withLock { state in
            state.readers -= 1
            guard state.readers == 0 else { return [Delivery.ID]() }
            defer { state.over = [] }
            return state.over.filter { Self.drop($0, &state) }
        }
        for delivery in hadFiles { try? removeFile(of: delivery) }
    }

    func path(of delivery: Delivery.ID) -> String { "\(directory)/\(delivery.rawValue)" }

    /// Returns the contents of the slots of the given deliveries, one after another. The format is the same as in the
    /// file of slots, but the slots of other deliveries are left out.
    func slotBytes(of deliveries: [Delivery.ID]) -> [UInt8] {
        state.withLock { state in deliveries.flatMap { state.slotted[$0]?.slot.bytes ?? [] } }
    }
}
