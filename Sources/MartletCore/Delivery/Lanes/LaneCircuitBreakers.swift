import MartletModel
import Synchronization

/// The circuit breakers and the health of all lanes. If no device of a delivery's platform can receive its message, the
/// refusal of the delivery is kept here too.
final class LaneCircuitBreakers: Sendable {
    /// The maximum number of pushes in the probe of a lane. The probe is the first page after a pause.
    static let probeSize = 10

    private struct State {
        var lanes: [LaneID: Lane] = [:]
        var refusals: [Delivery.ID: Outcome] = [:]
    }

    private let state = Mutex(State())

    /// Returns whether a page may be sent in a lane now. If the page becomes the probe of the lane, all other pages
    /// wait.
    func enter(_ id: LaneID, at now: Timestamp, probeDuration: Duration) -> CircuitBreaker.Entry {
        state.withLock { $0.lanes[id]?.breaker.enter(at: now, probeDuration: probeDuration) ?? .free }
    }

    func isOpen(_ id: LaneID) -> Bool {
        state.withLock { $0.lanes[id]?.isOpen ?? true }
    }

    /// Ends the probe of a lane, if the page of `ready` was admitted as the probe. Called if that page is not sent now.
    func endProbe(_ ready: SendContext) {
        if ready.isProbe { endProbe(ready.id) }
    }

    /// Ends a probe that has not shown whether the lane works, so that another page may become the probe.
    func endProbe(_ id: LaneID) {
        state.withLock { $0.lanes[id]?.breaker.endProbe() }
    }

    /// Pauses a lane whose credential is not usable, and returns the end of the pause.
    func pause(_ id: LaneID, isProbe: Bool, at now: Timestamp) -> Timestamp {
        state.withLock { state in
            state.lanes[id, default: Lane()].pauseCause = .invalidCredentials
            return state.lanes[id, default: Lane()].breaker.pause(isProbe: isProbe, at: now)
        }
    }

    /// Opens every lane of a hub, because its credentials have changed.
    func open(_ hub: Hub.ID) {
        state.withLock { state in
            for id in state.lanes.keys where id.hub == hub {
                state.lanes[id]?.breaker.close()
                state.lanes[id]?.attribution = FailureAttribution()
                state.lanes[id]?.failingDevices.release()
                state.lanes[id]?.resetGuards()
            }
        }
    }

    /// Removes all data about a hub that was deleted, or for which another process sends now.
    func forget(_ hub: Hub.ID) {
        state.withLock { state in state.lanes = state.lanes.filter { $0.key.hub != hub } }
    }

    /// The number of lanes in memory.
    var count: Int { state.withLock { $0.lanes.count } }

    // MARK: Devices that fail

    /// The decision about some pushes: which pushes must wait, and which are trials of failing devices.
    struct Admission: Sendable {
        /// The pushes that must wait, by index in the list of devices that was passed to `begin`.
        var waits: [Int: FailingDevices.Wait] = [:]
        var trials: Set<DeviceIdentity> = []
        /// The devices whose pushes are counted as outstanding until `end` is called.
        var outstanding: [DeviceIdentity] = []
    }

    /// Returns whether pushes to `count` devices of a lane must be admitted one by one (`begin`).
    func tracks(_ count: Int, in id: LaneID) -> Bool {
        count <= OutstandingPushes.pageLimit || hasFailingDevices(in: id)
    }

    func hasFailingDevices(in id: LaneID) -> Bool {
        state.withLock { !($0.lanes[id]?.failingDevices.isEmpty ?? true) }
    }

    /// Decides which pushes may be sent now, given their devices. If there are only a few devices, the admitted pushes
    /// are counted as outstanding until `end` is called.
    /// - Parameters:
    ///   - isProbe: Whether the page is the probe of the lane. Failing devices are then tested only if all devices of
    ///     the page are failing.
    ///   - expiry: When the notification expires. A push that would have to wait beyond that time is sent at once.
    func begin(
        _ devices: [DeviceIdentity], in id: LaneID, isProbe: Bool, expiry: Timestamp, at now: Timestamp,
        trialDuration: Duration
    ) -> Admission {
        state.withLock { state in
            state.lanes[id, default: Lane()].begin(
                devices, isProbe: isProbe, expiry: expiry, at: now, trialDuration: trialDuration)
        }
    }

    /// Admits one push at once, because it tests the paused origin of its device (`OriginCircuitBreaker`).
    func begin(_ device: DeviceIdentity, in id: LaneID, at now: Timestamp) -> Admission {
        state.withLock { $0.lanes[id, default: Lane()].begin(device, at: now) }
    }

    /// Returns the index of the first device that is not known to fail; nil if all of them are.
    func firstWorking(of devices: [DeviceIdentity], in id: LaneID) -> Int? {
        state.withLock { state in
            guard let failing = state.lanes[id]?.failingDevices, !failing.isEmpty else { return devices.indices.first }
            return devices.firstIndex { !failing.contains($0) }
        }
    }

    /// Ends the trials of an admission, and no longer counts its pushes as outstanding. Called when all pushes of the
    /// admission have ended.
    func end(_ admission: Admission, in id: LaneID, at now: Timestamp) {
        state.withLock { $0.lanes[id]?.end(admission, at: now) }
    }

    /// Records the results of pushes.
    /// - Parameter reached: The devices from which an answer came. They are needed only if a device of the lane is
    ///   known to fail.
    /// - Returns: Whether the service fails, and the evidence without devices that were already known to fail.
    func record(
        _ evidence: PushEvidence, reached: [DeviceIdentity], trials: Set<DeviceIdentity>, in id: LaneID,
        at now: Timestamp
    ) -> (verdict: FailureAttribution.Verdict, news: PushEvidence) {
        state.withLock { state in
            state.lanes[id, default: Lane()].record(evidence, reached: reached, trials: trials, at: now)
        }
    }

    // MARK: Pages

    /// Records the results of a page.
    /// - Parameter isCurrent: Whether the page was sent with the lane's current credential. If false, the page neither
    ///   pauses nor opens the lane.
    func record(_ page: LaneReport, _ ready: SendContext, isCurrent: Bool, at now: Timestamp) -> LaneChange {
        state.withLock { state in
            var lane = state.lanes[ready.id] ?? Lane()
            let wasOpen = lane.isOpen
            let isProbe = ready.isProbe && !page.leavesProbe
            var record = LaneChange()
            if isCurrent {
                for (application, health) in page.healths {
                    let (gone, change) = lane.record(health, of: application, at: now)
                    record.gone += gone
                    if let change { record.quarantines[application] = change }
                    if lane.guards[application]?.isQuarantined == true {
                        record.quarantined += (health.dead + health.doubtful).map(\.channel)
                    }
                }
            }
            if !isCurrent {
                if isProbe { lane.breaker.endProbe() }
            } else if let pause = page.pause {
                let until = lane.breaker.pause(atLeast: pause, isProbe: isProbe, at: now)
                lane.pauseCause = page.pauseCause?.name
                if let cause = page.pauseCause {
                    record.pause = LanePause(until: until, outcome: cause.name, reason: cause.reason)
                }
            } else if page.answered > 0, lane.isOpen || ready.isProbe {
                // A paused lane opens only if its probe is answered. An answer to a page that was sent before the pause
                // does not open the lane.
                if !wasOpen { lane.failingDevices.release() }
                lane.breaker.close()
            } else if isProbe {
                lane.breaker.endProbe()
            }
            state.lanes[ready.id] = lane
            record.beginsPause = wasOpen && !lane.isOpen
            return record
        }
    }

    /// Restores the lane state that an earlier process stored, except pauses of origins.
    func restore(_ memory: PersistedLaneState) {
        state.withLock { state in
            var lane = state.lanes[memory.lane] ?? Lane()
            for pause in memory.pauses where pause.origin == nil {
                lane.breaker.restore(until: pause.until)
                lane.pauseCause = pause.outcome
            }
            for application in memory.quarantines { lane.restoreQuarantine(of: application) }
            state.lanes[memory.lane] = lane
        }
    }

    var quarantines: [PlatformID: Int] {
        state.withLock { state in
            state.lanes.reduce(into: [:]) { $0[$1.key.platform, default: 0] += $1.value.quarantines }
        }
    }

    /// The number of quarantines in each lane that has any.
    var quarantinesByLane: [LaneID: Int] {
        state.withLock { $0.lanes.mapValues(\.quarantines).filter { $0.value > 0 } }
    }

    /// Returns when the pause of a lane ends; nil if the lane is open. Returns `now` if the pause is over and the lane
    /// waits for its probe.
    func pauseEnd(of id: LaneID, at now: Timestamp) -> Timestamp? {
        state.withLock { state in
            guard let lane = state.lanes[id], !lane.isOpen else { return nil }
            return max(lane.breaker.pausedUntil ?? now, now)
        }
    }

    /// The paused lanes, including lanes that wait for their probe.
    var paused: [LaneID] { state.withLock { $0.lanes.filter { !$0.value.isOpen }.map(\.key) } }

    /// The number of paused lanes on each platform, including lanes that wait for their probe.
    var pausedCounts: [PlatformID: Int] {
        state.withLock { state in
            state.lanes.reduce(into: [:]) { if !$1.value.isOpen { $0[$1.key.platform, default: 0] += 1 } }
        }
    }

    /// The paused lanes whose credential the push service refuses, or whose credential is not usable.
    var refusedCredentials: [LaneID] {
        state.withLock { state in
            state.lanes.filter { !$1.isOpen && $1.pauseCause == .invalidCredentials }.map(\.key)
        }
    }

    /// Returns the outcome that shows that no device can receive the message of a delivery; nil if there is no such
    /// outcome.
    func refusal(of delivery: Delivery.ID) -> Outcome? {
        state.withLock { $0.refusals[delivery] }
    }

    func refuse(_ delivery: Delivery.ID, _ outcome: Outcome) {
        state.withLock { $0.refusals[delivery] = outcome }
    }

    var refusalCount: Int { state.withLock { $0.refusals.count } }

    func forget(_ delivery: Delivery.ID) {
        state.withLock { _ = $0.refusals.removeValue(forKey: delivery) }
    }
}

/// The changes that a page has caused in its lane.
struct LaneChange: Sendable, Equatable {
    /// Whether the lane was open before the page and is paused now.
    var beginsPause = false
    /// The pause that the page has begun or extended.
    var pause: LanePause?
    /// The devices that the push service reported as gone and that are to be removed. Does not contain devices whose
    /// report is not believed (`DeletionGuard`).
    var gone: [ChannelFeedback] = []
    /// The devices that the page has reported as gone and that are kept because of a quarantine.
    var quarantined: [ChannelID] = []
    /// The quarantines that the page has begun (true) or ended (false), keyed by application
    /// (`PushService.application(of:)`).
    var quarantines: [String: Bool] = [:]
}
