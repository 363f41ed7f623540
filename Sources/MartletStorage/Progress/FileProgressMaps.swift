import Glibc
public import MartletCore

/// Progress maps as files of one directory: one file for all small deliveries, and one for each that is large, which is
/// mapped into memory while somebody holds it: many deliveries can wait at a time, and each open map costs a descriptor.
public final class FileProgressMaps: ProgressMaps {
    private let directory: String
    /// nil where the disk has no room for them: then every delivery has a file.
    private let slots: ProgressSlots?
    private let state: Locked<State>

    private struct State {
        var free: [ProgressSlot] = []
        /// Of deliveries whose map is in a slot.
        var slotted: [Delivery.ID: Slotted] = [:]
        /// Deliveries that have a file.
        var files: Set<Delivery.ID> = []
        /// Files that somebody holds: which pages of a file are there is known to the map that wrote them.
        var opened: [Delivery.ID: Opened] = [:]
        /// Files with bits that are in memory alone, because the disk is full.
        var homeless: [Delivery.ID: FileProgressMap] = [:]
        /// How many backups are under way, and the maps that are removed once none is.
        var readers = 0
        var over: [Delivery.ID] = []
    }

    private struct Slotted {
        let slot: ProgressSlot
        /// nil until somebody asks for what the process before has left.
        var map: SlotProgressMap?
    }

    private struct Opened {
        weak var map: FileProgressMap?
    }

    /// - Parameter unfinished: The deliveries whose maps are still needed; others are removed.
    init(in directory: String, keeping unfinished: [Delivery.ID]) throws(StorageError) {
        self.directory = directory
        let needed = Dictionary(unfinished.map { (String($0.rawValue), $0) }) { first, _ in first }
        var state = State()
        for name in try StorageDirectory.entries(of: directory) where name != ProgressSlots.fileName {
            if let id = needed[name] {
                state.files.insert(id)
            } else {
                unlink("\(directory)/\(name)")
            }
        }
        slots = try ProgressSlots("\(directory)/\(ProgressSlots.fileName)")
        if let (kept, free) = slots?.sort(keeping: Set(unfinished)) {
            state.slotted = kept.mapValues { Slotted(slot: $0) }
            state.free = free
        }
        self.state = Locked(state)
    }

    public func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap {
        try state.withLock { state throws(StorageError) in
            if let map = slotMap(for: delivery, through: lastNumber, expecting: count, &state) { return map }
            return try file(for: delivery, through: lastNumber, &state)
        }
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
        let map = try FileProgressMap(path(of: delivery), through: lastNumber) { [weak self] map in
            self?.state.withLock { $0.homeless[delivery] = map }
        }
        state.files.insert(delivery)
        state.opened[delivery] = Opened(map: map)
        return map
    }

    public func existingMap(
        for delivery: Delivery.ID, through lastNumber: Int64
    ) throws(StorageError) -> (any ProgressMap)? {
        let exists = state.withLock { $0.slotted[delivery] != nil || $0.files.contains(delivery) }
        return exists ? try map(for: delivery, through: lastNumber) : nil
    }

    public func remove(_ delivery: Delivery.ID) throws(StorageError) {
        let hadFile = state.withLock { state in
            state.homeless[delivery] = nil
            state.opened[delivery] = nil
            guard state.readers > 0 else { return Self.drop(delivery, &state) }
            state.over.append(delivery)
            return false
        }
        if hadFile { try removeFile(of: delivery) }
    }

    /// - Returns: Whether there is a file to remove, too.
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

    /// Keeps the maps of deliveries that end from now on, until as many calls of `release`.
    func hold() {
        state.withLock { $0.readers += 1 }
    }

    /// A map that cannot be removed now is removed at the next start.
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

    /// What the slots of some deliveries hold, one after another, as a file of slots that is as long as it needs to be.
    func slotBytes(of deliveries: [Delivery.ID]) -> [UInt8] {
        state.withLock { state in deliveries.flatMap { state.slotted[$0]?.slot.bytes ?? [] } }
    }
}
