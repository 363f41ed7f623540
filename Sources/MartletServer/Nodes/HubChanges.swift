import MartletCore
import MartletModel

/// Which of the changes that other nodes have made to the hubs of this node are known. A pure rule.
///
/// The changes of a hub are numbered, and each has a hint. A hint may be lost, so a change whose number is beyond a gap
/// proves nothing about the changes in the gap.
struct HubChanges {
    private struct Known {
        /// All changes up to this number are known.
        var through: Int64
        /// The numbers of the known changes beyond a gap.
        var beyond: Set<Int64> = []
    }

    private var hubs: [Hub.ID: Known] = [:]

    /// Records that everything is known up to a change, because the hub was read from the storage after it.
    mutating func read(_ hub: Hub.ID, through change: Int64) {
        var known = hubs[hub] ?? Known(through: change)
        known.through = max(known.through, change)
        known.beyond = known.beyond.filter { $0 > known.through }
        hubs[hub] = known
        closeGaps(of: hub)
    }

    /// Records that a hint has told of a change. Does nothing for a hub that this node does not own yet, because all of
    /// it will be read.
    mutating func hear(_ change: Int64, of hub: Hub.ID) {
        guard let known = hubs[hub], change > known.through else { return }
        hubs[hub]?.beyond.insert(change)
        closeGaps(of: hub)
    }

    mutating func forget(_ hub: Hub.ID) {
        hubs[hub] = nil
    }

    /// Returns the hubs of which some changes are not known.
    /// - Parameter numbers: The number of changes of each hub.
    func missing(_ numbers: [Hub.ID: Int64]) -> Set<Hub.ID> {
        Set(numbers.filter { entry in hubs[entry.key].map { $0.through < entry.value } ?? true }.keys)
    }

    private mutating func closeGaps(of hub: Hub.ID) {
        while let next = hubs[hub].map({ $0.through + 1 }), hubs[hub]?.beyond.remove(next) != nil {
            hubs[hub]?.through = next
        }
    }
}
