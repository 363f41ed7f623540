import MartletModel

/// Devices of a lane whose pushes fail: each waits on its own, and none of them is the probe of its lane.
///
/// A device whose request was reset or not answered is left alone, first for a second, with each failure for twice as long;
/// one whose connection broke, from the third time on. Then one push tries it. Pushes that wait for it come back one after
/// another, so that many of them cost little.
struct FailingDevices: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        var until: Timestamp
        /// What its last push came to.
        var outcome: Outcome
    }

    enum Entry: Sendable, Equatable {
        case free
        /// This push shows whether the device can be reached again.
        case trial
        case wait(Wait)
    }

    private struct Device: Sendable, Equatable {
        var breaker = CircuitBreaker(.device)
        var outcome: Outcome
        var failedAt: Timestamp
        /// Pushes that wait since the last trial.
        var waiting = 0
    }

    /// Beyond this many the one that failed longest ago is forgotten.
    static let limit = 128
    /// The wait between two pushes to the same device.
    static let spacing = Duration.milliseconds(200)
    /// Behind this many pushes the others share their time.
    private static let queueLimit = 4500

    private var devices: [DeviceIdentity: Device] = [:]

    var isEmpty: Bool { devices.isEmpty }
    var count: Int { devices.count }

    /// Whether its pushes have failed so that it is left alone, or was.
    func contains(_ device: DeviceIdentity) -> Bool {
        devices[device].map { !$0.breaker.isClosed } ?? false
    }

    /// Asks for a push to be let to a device.
    /// - Parameter mayTry: Whether it may be the one that tries a device that fails.
    mutating func enter(
        _ device: DeviceIdentity, mayTry: Bool, at now: Timestamp, trialDuration: Duration
    ) -> Entry {
        guard var found = devices[device], !found.breaker.isClosed else { return .free }
        defer { devices[device] = found }
        var entry = CircuitBreaker.Entry.paused(
            until: max(found.breaker.pausedUntil ?? now, now + CircuitBreaker.Terms.device.firstPause))
        if mayTry { entry = found.breaker.enter(at: now, probeDuration: trialDuration) }
        switch entry {
        case .free: return .free
        case .probe:
            found.waiting = 0
            return .trial
        case .paused(let until):
            found.waiting = min(found.waiting + 1, Self.queueLimit)
            return .wait(Wait(until: until + Self.spacing * found.waiting, outcome: found.outcome))
        }
    }

    mutating func fail(_ failure: PushEvidence.Failure, isTrial: Bool, at now: Timestamp) {
        if devices[failure.device] == nil { makeRoom() }
        var device = devices[failure.device] ?? Device(outcome: failure.outcome, failedAt: now)
        (device.outcome, device.failedAt) = (failure.outcome, now)
        // A connection breaks for reasons of its own, and with all that are on it.
        device.breaker.fail(
            failure.connection == nil ? CircuitBreaker.Terms.device.failures : 1, isProbe: isTrial, at: now)
        devices[failure.device] = device
    }

    /// The device was answered.
    mutating func remove(_ device: DeviceIdentity) {
        devices[device] = nil
    }

    /// A trial is over that may have shown nothing.
    mutating func endTrial(_ device: DeviceIdentity) {
        devices[device]?.breaker.endProbe()
    }

    /// The service has failed and is well again, which explains the failures: all may be tried at once.
    mutating func release() {
        for device in devices.keys { devices[device]?.breaker.allowProbe() }
    }

    private mutating func makeRoom() {
        guard devices.count >= Self.limit else { return }
        if let oldest = devices.min(by: { $0.value.failedAt < $1.value.failedAt }) { devices[oldest.key] = nil }
    }
}

/// Pushes of a lane that wait for an answer, by device, as far as they were sent to few at a time.
///
/// Where others are answered and a device is not, further pushes to it wait until it is, or until the first of them has
/// failed: each would keep a turn of its lane busy as long as a request may take.
struct OutstandingPushes: Sendable, Equatable {
    private struct Device: Sendable, Equatable {
        var count = 0
        /// When the first of them was begun, or the last one ended.
        var since: Timestamp
    }

    /// Pushes of a page with more devices are not counted by device.
    static let pageLimit = 8
    /// So many pushes to one device wait for it without a further condition.
    static let freeCount = 4
    /// How much later than others a device may be answered.
    static let patience = Duration.seconds(2)

    private var devices: [DeviceIdentity: Device] = [:]

    var isEmpty: Bool { devices.isEmpty }

    mutating func begin(_ device: DeviceIdentity, at now: Timestamp) {
        devices[device, default: Device(since: now)].count += 1
    }

    mutating func end(_ device: DeviceIdentity, at now: Timestamp) {
        guard var found = devices[device] else { return }
        found.count -= 1
        found.since = now
        devices[device] = found.count > 0 ? found : nil
    }

    /// How long a further push to the device is to wait; nil where it may go.
    /// - Parameter lastAnswer: When the lane was last answered.
    func wait(for device: DeviceIdentity, lastAnswer: Timestamp?, at now: Timestamp) -> Duration? {
        guard let found = devices[device], found.count >= Self.freeCount, let lastAnswer,
            now - found.since >= Self.patience, lastAnswer - found.since >= Self.patience
        else { return nil }
        return now - found.since
    }
}
