import MartletModel

/// The health of a lane, which decides whether the lane may send. A paused lane opens when its probe gets an answer
/// that requests no pause, or when its credential changes.
struct Lane: Sendable {
    var breaker = CircuitBreaker(.lane)
    /// The outcome that caused the latest pause; nil if none is known.
    var pauseCause: OutcomeName?
    var attribution = FailureAttribution()
    var failingDevices = FailingDevices()
    var outstanding = OutstandingPushes()
    /// The number of trials of failing devices in progress.
    private var trialCount = 0
    /// The maximum number of trials in progress. It is low, because each trial may occupy one of the slots of the
    /// delivery queue (`QueueLimits`) until its request times out.
    static let trialLimit = 4
    /// The deletion guards, one for each application (`PushService.application`).
    private(set) var guards: [String: DeletionGuard] = [:]

    /// The maximum number of deletion guards. When this number is reached and a new application appears, all guards
    /// that are not in quarantine are removed. If all guards are in quarantine, no device of the new application is
    /// believed to be gone. The limit is needed because senders choose topics and devices choose origins, and each
    /// topic or origin counts as an application.
    static let guardLimit = 1024

    var isOpen: Bool { breaker.isClosed }

    // MARK: Devices that fail

    mutating func begin(
        _ devices: [DeviceIdentity], isProbe: Bool, expiry: Timestamp, at now: Timestamp, trialDuration: Duration
    ) -> LaneCircuitBreakers.Admission {
        var admission = LaneCircuitBreakers.Admission()
        let mayTry = !isProbe || devices.allSatisfy(failingDevices.contains)
        let trialLimit = isOpen ? Self.trialLimit : 1
        let areFew = devices.count <= OutstandingPushes.pageLimit
        for (index, device) in devices.enumerated() {
            let entry = enter(
                device, mayTry: mayTry && trialCount < trialLimit, at: now, trialDuration: trialDuration)
            if case .wait(let wait) = entry, wait.until < expiry {
                admission.waits[index] = wait
                continue
            }
            if entry == .trial {
                admission.trials.insert(device)
                trialCount += 1
            }
            guard areFew else { continue }
            admission.outstanding.append(device)
            outstanding.begin(device, at: now)
        }
        return admission
    }

    mutating func begin(_ device: DeviceIdentity, at now: Timestamp) -> LaneCircuitBreakers.Admission {
        var admission = LaneCircuitBreakers.Admission(outstanding: [device])
        outstanding.begin(device, at: now)
        if failingDevices.contains(device) {
            admission.trials = [device]
            trialCount += 1
        }
        return admission
    }

    private mutating func enter(
        _ device: DeviceIdentity, mayTry: Bool, at now: Timestamp, trialDuration: Duration
    ) -> FailingDevices.Entry {
        let entry = failingDevices.enter(device, mayTry: mayTry, at: now, trialDuration: trialDuration)
        guard entry == .free, let wait = outstanding.wait(for: device, lastAnswer: attribution.lastAnswer, at: now)
        else { return entry }
        return .wait(FailingDevices.Wait(until: now + wait, outcome: .noAnswerYet))
    }

    mutating func end(_ admission: LaneCircuitBreakers.Admission, at now: Timestamp) {
        for device in admission.outstanding { outstanding.end(device, at: now) }
        for device in admission.trials { failingDevices.endTrial(device) }
        trialCount = max(0, trialCount - admission.trials.count)
    }

    mutating func record(
        _ evidence: PushEvidence, reached: [DeviceIdentity], trials: Set<DeviceIdentity>, at now: Timestamp
    ) -> (verdict: FailureAttribution.Verdict, news: PushEvidence) {
        let news = evidence.without(failingDevices.contains)
        for device in reached { failingDevices.remove(device) }
        for failure in evidence.failures {
            failingDevices.fail(failure, isTrial: trials.contains(failure.device), at: now)
        }
        return (attribution.record(news, at: now), news)
    }

    // MARK: Devices that are believed to be gone

    /// Records the answers of the push service to a page's pushes to one application (`PushService.application`).
    /// - Returns: The devices that are believed to be gone, and the change of the application's quarantine: true if the
    ///   quarantine has begun, false if it has ended, nil if nothing has changed.
    mutating func record(
        _ health: PageHealth, of application: String, at now: Timestamp
    ) -> (gone: [ChannelFeedback], change: Bool?) {
        if guards[application] == nil, guards.count >= Self.guardLimit {
            guards = guards.filter { $0.value.isQuarantined }
            guard guards.count < Self.guardLimit else { return ([], nil) }
        }
        var known = guards[application] ?? DeletionGuard()
        let before = known.isQuarantined
        let gone = known.record(health, at: now)
        guards[application] = known
        return (gone, known.isQuarantined == before ? nil : known.isQuarantined)
    }

    /// Restores a quarantine that an earlier process began.
    mutating func restoreQuarantine(of application: String) {
        guards[application] = DeletionGuard(isQuarantined: true)
    }

    /// Removes the recorded answers from all guards. The answers belong to pushes with the old credential, and say
    /// nothing about the new credential.
    mutating func resetGuards() {
        for application in guards.keys { guards[application]?.reset() }
    }

    var quarantines: Int { guards.count { $0.value.isQuarantined } }
}
