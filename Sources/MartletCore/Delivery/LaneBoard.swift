import MartletModel
import Synchronization

/// The lanes that deliveries share, and the messages that no device of their platform can take.
final class LaneBoard: Sendable {
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

    func pause(_ id: LaneID, at now: Timestamp) -> Timestamp {
        state.withLock { $0.lanes[id, default: Lane()].breaker.pause(at: now) }
    }

    /// Opens every lane of a hub: its credentials have changed.
    func open(_ hub: Hub.ID) {
        state.withLock { state in
            for id in state.lanes.keys where id.hub == hub { state.lanes[id]?.breaker.close() }
        }
    }

    /// Notes how a page went.
    /// - Parameter isCurrent: Whether its credential is still the lane's; where not, the page neither pauses nor opens it.
    func note(_ tally: PageTally, _ ready: ReadyLane, isCurrent: Bool, at now: Timestamp) -> LaneNote {
        state.withLock { state in
            var lane = state.lanes[ready.id] ?? Lane()
            let wasOpen = lane.isOpen
            let wasHealthy = lane.deletions.allowsDeletion(at: now)
            lane.deletions.note(successes: tally.successes, fatal: tally.fatal, at: now)
            if !isCurrent {
                lane.breaker.endProbe()
            } else if let pause = tally.pause {
                _ = lane.breaker.pause(atLeast: pause, at: now)
            } else if tally.answered > 0, lane.isOpen || ready.isProbe {
                // A page that was let in before a pause and is answered behind its beginning does not end it.
                lane.breaker.close()
            } else if ready.isProbe {
                lane.breaker.endProbe()
            }
            state.lanes[ready.id] = lane
            let isHealthy = lane.deletions.allowsDeletion(at: now)
            return LaneNote(
                beginsPause: wasOpen && !lane.isOpen, beginsQuarantine: wasHealthy && !isHealthy)
        }
    }

    /// Whether handles called dead under guard may be removed.
    func mayDelete(_ id: LaneID, at now: Timestamp) -> Bool {
        state.withLock { $0.lanes[id]?.deletions.allowsDeletion(at: now) ?? true }
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

    func forget(_ delivery: Delivery.ID) {
        state.withLock { _ = $0.refusals.removeValue(forKey: delivery) }
    }
}

/// What a page has just changed about its lane.
struct LaneNote: Sendable, Equatable {
    /// The lane was open and is paused now.
    var beginsPause: Bool
    /// Handles were believed dead until now and are not any more.
    var beginsQuarantine: Bool
}
