import MartletModel

/// Which part of the store's unfinished deliveries is known: pure bookkeeping.
///
/// All of them up to `through` are known. They are *complete* if none comes after it, and stop being so when a delivery
/// is turned away for want of room.
struct BacklogRefill: Sendable {
    private var through = Delivery.ID.none
    private(set) var isComplete = false
    /// The last delivery that the store had when it was read.
    private var found = Delivery.ID.none
    private var again: Timestamp?
    /// The last delivery that was taken, whether before or after `through`.
    private var last = Delivery.ID.none
    /// While the store is being read: the deliveries that ended, and whether one was turned away, in the meantime.
    private var isReading = false
    private var ended: Set<Delivery.ID> = []
    private var hasTurnedAway = false

    /// When to read the store again after a failure.
    var nextTry: Timestamp? { isComplete || isReading ? nil : again }

    /// Whether only intake can have handed over a delivery, and no earlier read of the store.
    func isNew(_ id: Delivery.ID) -> Bool { isComplete && id > found }

    /// Whether a delivery was left to the store, or may have been.
    func isLeftToStore(_ id: Delivery.ID) -> Bool { !isComplete && id > through }

    /// Records that a new delivery was taken.
    mutating func take(_ id: Delivery.ID) {
        last = max(last, id)
        if isComplete { through = last }
    }

    /// Records that a new delivery was left to the store.
    mutating func turnAway(_ id: Delivery.ID) {
        isComplete = false
        hasTurnedAway = true
        through = min(through, Delivery.ID(rawValue: id.rawValue - 1))
    }

    mutating func end(_ id: Delivery.ID) {
        if isReading { ended.insert(id) }
    }

    /// Begins reading the store, if that is due.
    /// - Returns: The delivery after which to read; nil if nothing is to be read now.
    mutating func begin(at now: Timestamp) -> Delivery.ID? {
        guard !isComplete, !isReading, again.map({ $0 <= now }) ?? true else { return nil }
        isReading = true
        hasTurnedAway = false
        ended = []
        return through
    }

    /// Records what was read from the store.
    /// - Parameter isAll: Whether the store had nothing after these deliveries.
    /// - Returns: Those deliveries that have not ended meanwhile.
    mutating func finish(_ found: [DeliveryProgress], isAll: Bool) -> [DeliveryProgress] {
        isReading = false
        again = nil
        // A delivery that was turned away meanwhile is among `found` or comes after them: the store numbers deliveries
        // in the order in which they become visible.
        through = found.last?.delivery.id ?? through
        self.found = max(self.found, through)
        isComplete = isAll && !hasTurnedAway
        if isComplete { through = max(through, last) }
        return found.filter { !ended.contains($0.delivery.id) }
    }

    /// Drops the wait after a failure: the clock was set back, so its end may lie too far ahead.
    mutating func hurry() {
        again = nil
    }

    /// Records that the store could not be read.
    mutating func fail(until timestamp: Timestamp) {
        isReading = false
        again = timestamp
    }
}
