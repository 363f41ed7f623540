import MartletModel

/// Tracks how much of the backlog in the store is known to the delivery queue. Does no I/O.
///
/// All unfinished deliveries up to the id `through` are known to the queue. The known deliveries are *complete* if the
/// store has no delivery after `through`. They stop being complete when the queue has no room for a new delivery and
/// leaves it to the store.
struct BacklogRefill: Sendable {
    private var through = Delivery.ID.none
    private(set) var isComplete = false
    /// The highest id up to which deliveries were read from the store.
    private var found = Delivery.ID.none
    private var again: Timestamp?
    /// The highest id of a new delivery that the queue has accepted, even if it is after `through`.
    private var last = Delivery.ID.none
    /// Whether the store is being read. During a read, `ended` collects the deliveries that end, and `turnedAway` is
    /// the lowest id of a new delivery that was left to the store.
    private var isReading = false
    private var ended: Set<Delivery.ID> = []
    private var turnedAway: Delivery.ID?

    /// When to read the store again after a failed read; nil if there is no read to repeat.
    var nextTry: Timestamp? { isComplete || isReading ? nil : again }

    /// Returns whether a delivery can only have come from intake. If false, an earlier read of the store may also have
    /// returned the delivery.
    func isNew(_ id: Delivery.ID) -> Bool { isComplete && id > found }

    /// Returns whether a delivery was left to the store. Such a delivery may be only in the store and not in the queue.
    func isLeftToStore(_ id: Delivery.ID) -> Bool { !isComplete && id > through }

    /// Records that a new delivery was accepted.
    mutating func take(_ id: Delivery.ID) {
        last = max(last, id)
        if isComplete { through = last }
    }

    /// Records that a new delivery was left to the store.
    mutating func turnAway(_ id: Delivery.ID) {
        isComplete = false
        turnedAway = min(turnedAway ?? id, id)
        through = min(through, Delivery.ID(rawValue: id.rawValue - 1))
    }

    mutating func end(_ id: Delivery.ID) {
        if isReading { ended.insert(id) }
    }

    /// Begins reading the store, if a read is due.
    /// - Returns: The delivery after which to read; nil if nothing is to be read now.
    mutating func begin(at now: Timestamp) -> Delivery.ID? {
        guard !isComplete, !isReading, again.map({ $0 <= now }) ?? true else { return nil }
        isReading = true
        turnedAway = nil
        ended = []
        return through
    }

    /// Records the deliveries that were read from the store.
    /// - Parameters:
    ///   - isAll: Whether the store had no deliveries after those in `found`.
    ///   - last: The last delivery that was read, even if `found` does not contain it; nil if it is the last one in
    ///     `found`.
    /// - Returns: The deliveries that have not ended since the read began.
    mutating func finish(
        _ found: [DeliveryProgress], isAll: Bool, through last: Delivery.ID? = nil
    ) -> [DeliveryProgress] {
        isReading = false
        again = nil
        let known = last ?? found.last?.delivery.id ?? through
        self.found = max(self.found, known)
        // A delivery that was left to the store during the read may be missing in `found`, even if `found` has
        // deliveries with higher ids. Two deliveries of the same hub become visible in the store in the order of their
        // ids. For two deliveries of different hubs, this order is not certain.
        through = turnedAway.map { min(known, Delivery.ID(rawValue: $0.rawValue - 1)) } ?? known
        isComplete = isAll && turnedAway == nil
        if isComplete { through = max(through, self.last) }
        return found.filter { !ended.contains($0.delivery.id) }
    }

    /// Cancels the wait that follows a failed read. Called when the clock was set back, because the end of the wait may
    /// now be too far in the future.
    mutating func hurry() {
        again = nil
    }

    /// Records that the store could not be read.
    mutating func fail(until timestamp: Timestamp) {
        isReading = false
        again = timestamp
    }
}
