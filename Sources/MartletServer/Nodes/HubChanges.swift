import MartletCore
import MartletModel

/// The numbers of the changes, made by other nodes to hubs of this node, that this node knows. A rule without I/O.
///
/// The changes of a hub are numbered 1, 2, 3 and so on, and a hint tells the number of each. A hint may be lost: a node
/// that has heard of changes 4 and 6 does not know change 5.
struct HubChanges {
    private struct Known {
        /// All changes up to this number are known.
        var through: Int64
        /// The numbers of known changes that are higher than that of an unknown change.
        var beyond: Set<Int64> = []
    }

    private var hubs: [Hub.ID: Known] = [:]

    /// Records that all changes up to a number are known, because the hub was read from the storage after them.
    mutating func read(_ hub: Hub.ID, through change: Int64) {
        var known = hubs[hub] ?? Known(through: change)
        known.through = max(known.through, change)
        known.beyond = known.beyond.filter { $0 > known.through }
        hubs[hub] = known
        closeGaps(of: hub)
    }

    /// Records a change that a hint has told. Does nothing for a hub that this node does not own yet, because the whole
    /// hub will be read.
    mutating func hear(_ change: Int64, of hub: Hub.ID) {
        guard let known = hubs[hub], change > known.through else { return }
        hubs[hub]?.beyond.insert(change)
        closeGaps(of: hub)
    }

    mutating func forget(_ hub: Hub.ID) {
        hubs[hub] = nil
    }

    /// Returns the hubs of which this node does not know all changes.
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
