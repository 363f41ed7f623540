import MartletModel

/// The deliveries that wait for the end of a probe of a paused origin. The retries of such a delivery stay unchanged in
/// the store while it waits. Does no I/O.
struct ProbeWaits<Origin: Hashable & Sendable>: Sendable {
    /// The maximum number of origins that are remembered for a delivery. The first end wakes it anyway, and devices
    /// choose how many there are.
    private static var limit: Int { 8 }

    private var origins: [Delivery.ID: Set<Origin>] = [:]
    private var deliveries: [Origin: Set<Delivery.ID>] = [:]
    /// The deliveries whose wait has ended since the last call of `takeReleased`.
    private var released: Set<Delivery.ID> = []

    /// The number of waiting deliveries.
    var count: Int { origins.count }

    func contains(_ delivery: Delivery.ID) -> Bool { origins[delivery] != nil }

    /// Lets a delivery wait until the first of these probes ends, instead of what it has waited for until now. If there
    /// are too many, it waits for some of them.
    mutating func wait(_ delivery: Delivery.ID, for all: Set<Origin>) {
        forget(delivery)
        guard !all.isEmpty else { return }
        let probed = Set(all.prefix(Self.limit))
        origins[delivery] = probed
        for origin in probed { deliveries[origin, default: []].insert(delivery) }
    }

    /// Ends the waits for a probe that has ended, whatever its result.
    /// - Returns: Whether a delivery was released.
    @discardableResult
    mutating func end(_ origin: Origin) -> Bool {
        guard let ended = deliveries[origin] else { return false }
        for delivery in ended { forget(delivery) }
        released.formUnion(ended)
        return true
    }

    /// Ends the waits for the probes of all origins that match.
    mutating func end(where matches: (Origin) -> Bool) {
        for origin in deliveries.keys.filter(matches) { end(origin) }
    }

    /// Returns the deliveries whose wait has ended, once each.
    mutating func takeReleased() -> Set<Delivery.ID> {
        defer { released = [] }
        return released
    }

    /// Removes a delivery that waits no longer.
    mutating func forget(_ delivery: Delivery.ID) {
        for origin in origins.removeValue(forKey: delivery) ?? [] {
            deliveries[origin]?.remove(delivery)
            if deliveries[origin]?.isEmpty ?? false { deliveries[origin] = nil }
        }
    }
}
