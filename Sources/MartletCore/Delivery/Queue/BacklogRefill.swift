import MartletModel

/// How far the unfinished deliveries of the store are known: pure bookkeeping.
///
/// Up to `through` all of them are known; they are *complete* where none comes after it, and stop being so when one is
/// turned away for want of room.
struct BacklogRefill: Sendable {
    private var through = Delivery.ID.none
    private(set) var isComplete = false
    /// The last that the store had when it was read.
    private var found = Delivery.ID.none
    private var again: Timestamp?
    /// The last that was taken, through or after `through`.
    private var last = Delivery.ID.none
    /// While the store is being read: what ended, and whether something was turned away, in the meantime.
    private var isReading = false
    private var ended: Set<Delivery.ID> = []
    private var hasTurnedAway = false

    /// When the store is to be read after a failure.
    var nextTry: Timestamp? { isComplete || isReading ? nil : again }

    /// Whether only its intake can have told of a delivery, and not the store before it.
    func isNew(_ id: Delivery.ID) -> Bool { isComplete && id > found }

    /// Whether a delivery was left to the store, or may have been.
    func isLeftToStore(_ id: Delivery.ID) -> Bool { !isComplete && id > through }

    /// A new delivery is taken.
    mutating func take(_ id: Delivery.ID) {
        last = max(last, id)
        if isComplete { through = last }
    }

    /// A new delivery is left to the store.
    mutating func turnAway(_ id: Delivery.ID) {
        isComplete = false
        hasTurnedAway = true
        through = min(through, Delivery.ID(rawValue: id.rawValue - 1))
    }

    mutating func end(_ id: Delivery.ID) {
        if isReading { ended.insert(id) }
    }

    /// Behind which delivery the store is to be read, where it is to be read now.
    mutating func begin(at now: Timestamp) -> Delivery.ID? {
        guard !isComplete, !isReading, again.map({ $0 <= now }) ?? true else { return nil }
        isReading = true
        hasTurnedAway = false
        ended = []
        return through
    }

    /// What the store had.
    /// - Parameter isAll: Whether nothing came after it.
    /// - Returns: What of it is not over by now.
    mutating func finish(_ found: [DeliveryProgress], isAll: Bool) -> [DeliveryProgress] {
        isReading = false
        again = nil
        // What was turned away meanwhile is among the found, or comes after them: the store numbers in the order in which
        // deliveries become visible.
        through = found.last?.delivery.id ?? through
        self.found = max(self.found, through)
        isComplete = isAll && !hasTurnedAway
        if isComplete { through = max(through, last) }
        return found.filter { !ended.contains($0.delivery.id) }
    }

    /// The clock was set back: what was to be waited for may lie too far ahead.
    mutating func hurry() {
        again = nil
    }

    /// The store could not be read.
    mutating func fail(until timestamp: Timestamp) {
        isReading = false
        again = timestamp
    }
}
