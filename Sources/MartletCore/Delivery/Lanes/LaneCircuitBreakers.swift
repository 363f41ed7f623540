import MartletModel
import Synchronization

/// The lanes that deliveries share, and the messages that no device of their platform can take.
final class LaneCircuitBreakers: Sendable {
    /// How many pushes a lane sends first after a pause.
    static let probeSize = 10

    private struct State {
        var lanes: [LaneID: Lane] = [:]
        var refusals: [Delivery.ID: Outcome] = [:]
    }

    private let state = Mutex(State())

    /// Asks for a page to be let into a lane.
    func enter(_ id: LaneID, at now: Timestamp, probeDuration: Duration) -> CircuitBreaker.Entry {
        state.withLock { $0.lanes[id]?.breaker.enter(at: now, probeDuration: probeDuration) ?? .free }
    }

    func isOpen(_ id: LaneID) -> Bool {
        state.withLock { $0.lanes[id]?.isOpen ?? true }
    }

    /// A delivery that was let in as a probe sends nothing for now.
    func endProbe(_ ready: SendContext) {
        if ready.isProbe { endProbe(ready.id) }
    }

    /// What was let in as a probe leaves that to others.
    func endProbe(_ id: LaneID) {
        state.withLock { $0.lanes[id]?.breaker.endProbe() }
    }

    func pause(_ id: LaneID, isProbe: Bool, at now: Timestamp) -> Timestamp {
        state.withLock { $0.lanes[id, default: Lane()].breaker.pause(isProbe: isProbe, at: now) }
    }

    /// Opens every lane of a hub: its credentials have changed.
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

    /// Drops what is known of a hub that is gone.
    func forget(_ hub: Hub.ID) {
        state.withLock { state in state.lanes = state.lanes.filter { $0.key.hub != hub } }
    }

    /// How many lanes it knows.
    var count: Int { state.withLock { $0.lanes.count } }

    // MARK: Devices that fail

    /// Which of some devices are to wait, and which of them are tried though they fail.
    struct Admission: Sendable {
        /// By index in the list of devices.
        var waits: [Int: FailingDevices.Wait] = [:]
        var trials: Set<DeviceIdentity> = []
        /// Those that are counted until their pushes are over.
        var outstanding: [DeviceIdentity] = []
    }

    /// Whether pushes of so many devices have to be admitted one by one.
    func tracks(_ count: Int, in id: LaneID) -> Bool {
        count <= OutstandingPushes.pageLimit || hasFailingDevices(in: id)
    }

    func hasFailingDevices(in id: LaneID) -> Bool {
        state.withLock { !($0.lanes[id]?.failingDevices.isEmpty ?? true) }
    }

    /// Asks for pushes to be let to devices. Those that may go and are few are counted until `end`.
    /// - Parameters:
    ///   - isProbe: Whether they show whether the lane is well again. A device that fails does not where another one may.
    ///   - expiry: When the message is worth nothing any more. What would wait longer goes at once.
    func begin(
        _ devices: [DeviceIdentity], in id: LaneID, isProbe: Bool, expiry: Timestamp, at now: Timestamp,
        trialDuration: Duration
    ) -> Admission {
        state.withLock { state in
            state.lanes[id, default: Lane()].begin(
                devices, isProbe: isProbe, expiry: expiry, at: now, trialDuration: trialDuration)
        }
    }

    /// Pushes that went are over.
    func end(_ admission: Admission, in id: LaneID, at now: Timestamp) {
        state.withLock { $0.lanes[id]?.end(admission, at: now) }
    }

    /// Records what pushes have shown.
    /// - Parameter reached: Devices that were answered, where any is known to fail.
    /// - Returns: Whether the service fails, and what is new of the evidence.
    func record(
        _ evidence: PushEvidence, reached: [DeviceIdentity], trials: Set<DeviceIdentity>, in id: LaneID,
        at now: Timestamp
    ) -> (verdict: FailureAttribution.Verdict, news: PushEvidence) {
        state.withLock { state in
            state.lanes[id, default: Lane()].record(evidence, reached: reached, trials: trials, at: now)
        }
    }

    // MARK: Pages

    /// Records how a page went.
    /// - Parameter isCurrent: Whether its credential is still the lane's; where not, the page neither pauses nor opens it.
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
                }
            }
            if !isCurrent {
                if isProbe { lane.breaker.endProbe() }
            } else if let pause = page.pause {
                let until = lane.breaker.pause(atLeast: pause, isProbe: isProbe, at: now)
                if let cause = page.pauseCause {
                    record.pause = LanePause(until: until, outcome: cause.name, reason: cause.reason)
                }
            } else if page.answered > 0, lane.isOpen || ready.isProbe {
                // A page that was let in before a pause and is answered after its beginning does not end it.
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

    /// Goes on with what an earlier process knew of a lane; what is of an origin is none of it.
    func restore(_ memory: PersistedLaneState) {
        state.withLock { state in
            var lane = state.lanes[memory.lane] ?? Lane()
            for pause in memory.pauses where pause.origin == nil { lane.breaker.restore(until: pause.until) }
            for application in memory.quarantines { lane.restoreQuarantine(of: application) }
            state.lanes[memory.lane] = lane
        }
    }

    /// How many quarantines there are on each platform.
    var quarantines: [PlatformID: Int] {
        state.withLock { state in
            state.lanes.reduce(into: [:]) { $0[$1.key.platform, default: 0] += $1.value.quarantines }
        }
    }

    /// How many lanes are paused, by platform.
    var pausedCounts: [PlatformID: Int] {
        state.withLock { state in
            state.lanes.reduce(into: [:]) { if !$1.value.isOpen { $0[$1.key.platform, default: 0] += 1 } }
        }
    }

    /// Why no device can take what a delivery brings, where one answer has shown it.
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

/// What a page has just changed about its lane.
struct LaneChange: Sendable, Equatable {
    /// The lane was open and is paused now.
    var beginsPause = false
    /// The pause that it begins or prolongs.
    var pause: LanePause?
    /// Who is believed to be gone.
    var gone: [ChannelFeedback] = []
    /// The applications of which nobody is believed to be gone any more, or is again.
    var quarantines: [String: Bool] = [:]
}
