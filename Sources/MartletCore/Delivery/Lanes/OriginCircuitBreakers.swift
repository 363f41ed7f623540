import MartletHTTP
import MartletModel
import Synchronization

/// Pauses single origins in those lanes whose devices choose their origins. An origin is paused because it has
/// requested a pause, or because it fails (`FailureAttribution`).
final class OriginCircuitBreakers: Sendable {
    private struct Key: Hashable {
        var lane: LaneID
        var origin: HTTPOrigin
    }

    private struct Known {
        var breaker = OriginCircuitBreaker()
        var attribution = FailureAttribution(connectionLimit: 3)
        var cause = Outcome.accepted
        var usedAt: Timestamp

        func isPaused(at now: Timestamp) -> Bool { breaker.pausedUntil.map { $0 > now } ?? false }
    }

    private struct State {
        var known: [Key: Known] = [:]
        var waits = ProbeWaits<Key>()
    }

    enum Entry: Sendable, Equatable {
        case free
        /// One push may be sent, as the probe of the origin or as a trial of a failing device.
        case probe
        /// Nothing is sent until the given time. The outcome is the cause of the pause.
        case paused(until: Timestamp, Outcome)
        /// A probe or a trial is in progress, and all other pushes wait for its end (`waitForProbes`). The outcome is the
        /// cause of the pause.
        case probed(Outcome)
    }

    /// The maximum number of origins in memory. The limit is needed because devices choose their origins. When it is
    /// reached, the least recently used origin that is not paused is removed. If all origins are paused, a new origin
    /// is not added.
    static let limit = 4096
    private let state = Mutex(State())
    private let released: @Sendable () -> Void

    /// - Parameter released: Called when deliveries have been released (`takeReleased`).
    init(released: @escaping @Sendable () -> Void = {}) {
        self.released = released
    }

    /// Asks whether pushes may be sent to an origin.
    /// - Parameter areFailing: Whether all devices of the pushes are known to fail.
    func enter(
        _ lane: LaneID, _ origin: HTTPOrigin, areFailing: Bool = false, at now: Timestamp, probeDuration: Duration
    ) -> Entry {
        let key = Key(lane: lane, origin: origin)
        return state.withLock { state in
            let entry = state.known[key]?.breaker.enter(areFailing: areFailing, at: now, probeDuration: probeDuration)
            let cause = state.known[key]?.cause ?? .accepted
            return switch entry {
            case .free, nil: .free
            case .probe: .probe
            case .paused(let until): .paused(until: until, cause)
            case .probed: .probed(cause)
            }
        }
    }

    /// Records the results of pushes to an origin.
    /// - Parameters:
    ///   - evidence: The results. Devices that are known to fail are left out.
    ///   - outcomes: The outcomes other than plain successes (`PlainSuccess`).
    ///   - role: How the pushes were sent. Only answers to a probe or a trial end a pause: other answers may belong to
    ///     pushes that were sent before the pause.
    /// - Returns: The pause that the origin has requested, which the caller must store; nil if the origin has requested
    ///   none.
    @discardableResult
    func record(
        _ evidence: PushEvidence, _ outcomes: [Outcome], _ lane: LaneID, _ origin: HTTPOrigin,
        role: OriginCircuitBreaker.Role, at now: Timestamp
    ) -> LanePause? {
        let asked = Self.wait(in: outcomes)
        change(Key(lane: lane, origin: origin), at: now) { known in
            let verdict = known.attribution.record(evidence, at: now)
            if let (wait, cause) = asked {
                known.cause = cause
                known.breaker.pause(atLeast: wait, after: role, at: now)
            } else if evidence.answers > 0 {
                if role != .ordinary { known.breaker.close() }
            } else if verdict == .service, let cause = outcomes.last {
                known.cause = cause
                known.breaker.pause(after: role, at: now)
            }
        }
        return asked.map { wait, cause in
            LanePause(origin: origin.description, until: now + wait, outcome: cause.name, reason: cause.reason)
        }
    }

    /// Returns the longest pause that an origin has requested, and the outcome with the request; nil if the origin has
    /// requested none.
    private static func wait(in outcomes: [Outcome]) -> (Duration, Outcome)? {
        var longest: (wait: Duration, cause: Outcome)?
        for outcome in outcomes where outcome.name != .pnsUnreachable {
            guard case .retry(let wait, .origin) = outcome.reaction, wait > longest?.wait ?? .zero else { continue }
            longest = (wait, outcome)
        }
        return longest
    }

    /// Restores a pause that an origin requested from an earlier process.
    func restore(_ pause: LanePause, of lane: LaneID, at now: Timestamp) {
        guard let text = pause.origin, let origin = HTTPOrigin(text) else { return }
        let cause = Outcome(pause.outcome, reason: pause.reason, .retry(after: pause.until - now, scope: .origin))
        change(Key(lane: lane, origin: origin), at: now) { known in
            known.cause = cause
            known.breaker.restore(until: pause.until)
        }
    }

    func isOpen(_ lane: LaneID, _ origin: HTTPOrigin) -> Bool {
        state.withLock { $0.known[Key(lane: lane, origin: origin)]?.breaker.isClosed ?? true }
    }

    // MARK: Waiting for probes

    /// Ends a probe or a trial, and releases the deliveries that wait for it. If it has not shown whether the origin
    /// works, another push may be sent in its place.
    func end(_ role: OriginCircuitBreaker.Role, _ lane: LaneID, _ origin: HTTPOrigin, at now: Timestamp) {
        let key = Key(lane: lane, origin: origin)
        let hasReleased = state.withLock { state in
            state.known[key]?.breaker.end(role, at: now)
            return state.waits.end(key)
        }
        if hasReleased { released() }
    }

    /// Lets a delivery wait until the first of the probes of some origins ends. The caller must look again at the latest
    /// at the returned time.
    /// - Returns: The latest end of the first probe; nil if one of the probes has ended already, so that the delivery
    ///   does not wait.
    func waitForProbes(
        of origins: Set<HTTPOrigin>, in lane: LaneID, _ delivery: Delivery.ID, at now: Timestamp
    ) -> Timestamp? {
        state.withLock { state in
            var first: Timestamp?
            for origin in origins {
                guard let end = state.known[Key(lane: lane, origin: origin)]?.breaker.probeEnd(at: now) else {
                    return nil
                }
                first = min(first ?? end, end)
            }
            state.waits.wait(delivery, for: Set(origins.map { Key(lane: lane, origin: $0) }))
            return first
        }
    }

    /// Whether a delivery waits for a probe that has not ended.
    func isWaiting(_ delivery: Delivery.ID) -> Bool { state.withLock { $0.waits.contains(delivery) } }

    /// Returns the deliveries that have waited for a probe that has ended, once each.
    func takeReleased() -> Set<Delivery.ID> { state.withLock { $0.waits.takeReleased() } }

    /// Removes a delivery that has ended.
    func forget(_ delivery: Delivery.ID) {
        state.withLock { $0.waits.forget(delivery) }
    }

    /// The number of deliveries that wait for a probe.
    var waitingCount: Int { state.withLock(\.waits.count) }

    // MARK: All origins

    /// Removes all data about a hub that was deleted, or for which another process sends now.
    func forget(_ hub: Hub.ID) {
        state.withLock { state in
            state.known = state.known.filter { $0.key.lane.hub != hub }
            state.waits.end { $0.lane.hub == hub }
        }
    }

    /// The number of origins in memory.
    var count: Int { state.withLock(\.known.count) }

    /// Returns the pauses of those origins of a lane that are paused or wait for a probe, sorted by origin.
    func pauses(of lane: LaneID, at now: Timestamp) -> [LanePause] {
        state.withLock { state in
            state.known.filter { $0.key.lane == lane && !$0.value.breaker.isClosed }.map { key, known in
                LanePause(
                    origin: key.origin.description, until: max(known.breaker.pausedUntil ?? now, now),
                    outcome: known.cause.name, reason: known.cause.reason)
            }
        }.sorted { ($0.origin ?? "") < ($1.origin ?? "") }
    }

    /// The number of origins that are paused or wait for a probe, by platform.
    var pausedCounts: [PlatformID: Int] {
        state.withLock { state in
            state.known.reduce(into: [:]) {
                if !$1.value.breaker.isClosed { $0[$1.key.lane.platform, default: 0] += 1 }
            }
        }
    }

    /// The number of origins that are paused or wait for a probe, in each lane that has any.
    var pausedCountsByLane: [LaneID: Int] {
        state.withLock { state in
            state.known.reduce(into: [:]) { if !$1.value.breaker.isClosed { $0[$1.key.lane, default: 0] += 1 } }
        }
    }

    private func change(_ key: Key, at now: Timestamp, _ change: (inout Known) -> Void) {
        state.withLock { state in
            if state.known[key] == nil, state.known.count >= Self.limit {
                let rest = state.known.lazy.filter { !$0.value.isPaused(at: now) }
                guard let oldest = rest.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
                state.known[oldest.key] = nil
            }
            state.known[key, default: Known(usedAt: now)].usedAt = now
            if var found = state.known[key] {
                change(&found)
                state.known[key] = found
            }
        }
    }
}
