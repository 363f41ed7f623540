import MartletModel

/// The devices of a lane whose pushes fail. Each device has its own circuit breaker. A page that has only failing
/// devices does not count as the probe of the lane.
///
/// If a request was reset or not answered, its device is paused for one second. Each further failure doubles the pause.
/// If the connection of the request broke, the device is paused only from the third broken connection on. After a
/// pause, one push tests the device; this push is the trial. Further pushes to the device are postponed to different
/// times, so that they are not all read and postponed again together.
struct FailingDevices: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        var until: Timestamp
        /// The outcome of the last push to the device.
        var outcome: Outcome
    }

    enum Entry: Sendable, Equatable {
        case free
        /// The push may be sent, and tests whether the device can be reached again.
        case trial
        case wait(Wait)
    }

    private struct Device: Sendable, Equatable {
        var breaker = CircuitBreaker(.device)
        var outcome: Outcome
        var failedAt: Timestamp
        /// The number of pushes that were postponed since the last trial.
        var waiting = 0
    }

    /// The maximum number of devices. If there are more, the device that failed longest ago is removed.
    static let limit = 128
    /// The time between two postponed pushes to the same device.
    static let spacing = Duration.milliseconds(200)
    /// The maximum number of postponed pushes to a device that get different times. All further pushes to the device
    /// are due at the same time.
    private static let queueLimit = 4500

    private var devices: [DeviceIdentity: Device] = [:]

    var isEmpty: Bool { devices.isEmpty }
    var count: Int { devices.count }

    /// Returns whether the device is paused, or was paused and has not been reached since.
    func contains(_ device: DeviceIdentity) -> Bool {
        devices[device].map { !$0.breaker.isClosed } ?? false
    }

    /// Asks whether a push may be sent to a device.
    /// - Parameter mayTry: Whether the push may be the trial of a failing device.
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
        // A broken connection affects all devices on it, and is not necessarily the fault of this device. Therefore it
        // counts as only one failure. A failed request counts as enough failures to pause the device.
        device.breaker.fail(
            failure.connection == nil ? CircuitBreaker.Terms.device.failures : 1, isProbe: isTrial, at: now)
        devices[failure.device] = device
    }

    /// Records that a push to the device was answered.
    mutating func remove(_ device: DeviceIdentity) {
        devices[device] = nil
    }

    /// Ends a trial, whether the trial had a result or not.
    mutating func endTrial(_ device: DeviceIdentity) {
        devices[device]?.breaker.endProbe()
    }

    /// Allows a trial of every failing device at once. Called when the lane works again or has a new credential,
    /// because the state of the lane may explain the failures of its devices.
    mutating func release() {
        for device in devices.keys { devices[device]?.breaker.allowProbe() }
    }

    private mutating func makeRoom() {
        guard devices.count >= Self.limit else { return }
        if let oldest = devices.min(by: { $0.value.failedAt < $1.value.failedAt }) { devices[oldest.key] = nil }
    }
}

/// Counts the pushes of a lane that wait for an answer, by device. Only pushes of small pages are counted.
///
/// Several pushes to one device may stay unanswered while pushes to other devices of the lane are answered. Further
/// pushes to that device then wait until one of the outstanding pushes is answered, or the first of them has failed.
/// Otherwise each further push would occupy one of the slots of the delivery queue (`QueueLimits`) until it times out.
struct OutstandingPushes: Sendable, Equatable {
    private struct Device: Sendable, Equatable {
        var count = 0
        /// The time from which `patience` is measured. This is when the first outstanding push to the device began or,
        /// if pushes to the device have ended since then, when the last of these ended.
        var since: Timestamp
    }

    /// The maximum number of devices in a page whose pushes are counted. In larger pages, no pushes are counted.
    static let pageLimit = 8
    /// If a device has at least this many outstanding pushes, a further push to the device may have to wait.
    static let freeCount = 4
    /// How long pushes to a device may stay unanswered, while pushes to other devices are answered, before further
    /// pushes to the device must wait.
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

    /// Returns how long a further push to the device must wait; nil if it may be sent now.
    /// - Parameter lastAnswer: The time of the last answer to any push of the lane; nil if there was none.
    func wait(for device: DeviceIdentity, lastAnswer: Timestamp?, at now: Timestamp) -> Duration? {
        guard let found = devices[device], found.count >= Self.freeCount, let lastAnswer,
            now - found.since >= Self.patience, lastAnswer - found.since >= Self.patience
        else { return nil }
        return now - found.since
    }
}
