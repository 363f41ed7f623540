import MartletCore
import MartletModel

/// Keeps track of the changes that other nodes make to the hubs of this node, to find changes that this node has
/// missed. It does no I/O.
///
/// The changes of a hub are numbered 1, 2, 3 and so on. For each change there is a hint with its number. A hint may be
/// lost: if a node has received the hints for the changes 4 and 6 only, change 5 is unknown to it.
struct HubChanges {
    private struct Known {
        /// All changes up to this number are known.
        var through: Int64
        /// The numbers of known changes that come after an unknown change.
        var beyond: Set<Int64> = []
    }

    private var hubs: [Hub.ID: Known] = [:]

    /// Records that all changes up to a number are known, because the hub was read from the storage after these
    /// changes.
    mutating func read(_ hub: Hub.ID, through change: Int64) {
        var known = hubs[hub] ?? Known(through: change)
        known.through = max(known.through, change)
        known.beyond = known.beyond.filter { $0 > known.through }
        hubs[hub] = known
        closeGaps(of: hub)
    }

    /// Records the number of a change that a hint has reported. Does nothing for a hub that this node does not own yet,
    /// because the whole hub is read when this node becomes its owner.
    mutating func hear(_ change: Int64, of hub: Hub.ID) {
        guard let known = hubs[hub], change > known.through else { return }
        hubs[hub]?.beyond.insert(change)
        closeGaps(of: hub)
    }

    mutating func forget(_ hub: Hub.ID) {
        hubs[hub] = nil
    }

    /// Returns the hubs that have changes unknown to this node.
    /// - Parameter numbers: The number of the last change of each hub.
    func missing(_ numbers: [Hub.ID: Int64]) -> Set<Hub.ID> {
        Set(numbers.filter { entry in hubs[entry.key].map { $0.through < entry.value } ?? true }.keys)
    }

    private mutating func closeGaps(of hub: Hub.ID) {
        while let next = hubs[hub].map({ $0.through + 1 }), hubs[hub]?.beyond.remove(next) != nil {
            hubs[hub]?.through = next
        }
    }
}
