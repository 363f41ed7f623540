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
        var breaker = CircuitBreaker(.origin)
        var attribution = FailureAttribution(connectionLimit: 3)
        var cause = Outcome.accepted
        var usedAt: Timestamp

        func isPaused(at now: Timestamp) -> Bool { breaker.pausedUntil.map { $0 > now } ?? false }
    }

    enum Entry: Sendable, Equatable {
        case free
        /// One push may be sent as the probe of the origin.
        case probe
        /// Nothing is sent until the given time. The outcome is the cause of the pause.
        case paused(until: Timestamp, Outcome)
    }

    /// The maximum number of origins in memory. The limit is needed because devices choose their origins. When it is
    /// reached, the least recently used origin that is not paused is removed. If all origins are paused, a new origin
    /// is not added.
    static let limit = 4096
    private let known = Mutex<[Key: Known]>([:])

    /// Asks whether pushes may be sent to an origin.
    func enter(_ lane: LaneID, _ origin: HTTPOrigin, at now: Timestamp, probeDuration: Duration) -> Entry {
        let key = Key(lane: lane, origin: origin)
        return known.withLock { known in
            guard let entry = known[key]?.breaker.enter(at: now, probeDuration: probeDuration) else { return .free }
            return switch entry {
            case .free: .free
            case .probe: .probe
            case .paused(let until): .paused(until: until, known[key]?.cause ?? .accepted)
            }
        }
    }

    /// Records the results of pushes to an origin.
    /// - Parameters:
    ///   - evidence: The results. Devices that are known to fail are left out.
    ///   - outcomes: The outcomes other than plain successes (`PlainSuccess`).
    ///   - isProbe: Whether the pushes were the probe of the origin. Only answers to the probe end a pause: other
    ///     answers may belong to pushes that were sent before the pause.
    /// - Returns: The pause that the origin has requested, which the caller must store; nil if the origin has requested
    ///   none.
    @discardableResult
    func record(
        _ evidence: PushEvidence, _ outcomes: [Outcome], _ lane: LaneID, _ origin: HTTPOrigin, isProbe: Bool,
        at now: Timestamp
    ) -> LanePause? {
        let asked = Self.wait(in: outcomes)
        change(Key(lane: lane, origin: origin), at: now) { known in
            let verdict = known.attribution.record(evidence, at: now)
            if let (wait, cause) = asked {
                known.cause = cause
                _ = known.breaker.pause(atLeast: wait, isProbe: isProbe, at: now)
            } else if evidence.answers > 0 {
                if isProbe { known.breaker.close() }
            } else if verdict == .service, let cause = outcomes.last {
                known.cause = cause
                _ = known.breaker.pause(isProbe: isProbe, at: now)
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
        known.withLock { $0[Key(lane: lane, origin: origin)]?.breaker.isClosed ?? true }
    }

    /// Ends a probe that has not shown whether the origin works, so that another push may become the probe.
    func endProbe(_ lane: LaneID, _ origin: HTTPOrigin) {
        known.withLock { $0[Key(lane: lane, origin: origin)]?.breaker.endProbe() }
    }

    /// Removes all data about a hub that was deleted, or for which another process sends now.
    func forget(_ hub: Hub.ID) {
        known.withLock { known in known = known.filter { $0.key.lane.hub != hub } }
    }

    /// The number of origins in memory.
    var count: Int { known.withLock(\.count) }

    /// Returns the pauses of those origins of a lane that are paused or wait for a probe, sorted by origin.
    func pauses(of lane: LaneID, at now: Timestamp) -> [LanePause] {
        known.withLock { known in
            known.filter { $0.key.lane == lane && !$0.value.breaker.isClosed }.map { key, known in
                LanePause(
                    origin: key.origin.description, until: max(known.breaker.pausedUntil ?? now, now),
                    outcome: known.cause.name, reason: known.cause.reason)
            }
        }.sorted { ($0.origin ?? "") < ($1.origin ?? "") }
    }

    /// The number of origins that are paused or wait for a probe, by platform.
    var pausedCounts: [PlatformID: Int] {
        known.withLock { known in
            known.reduce(into: [:]) { if !$1.value.breaker.isClosed { $0[$1.key.lane.platform, default: 0] += 1 } }
        }
    }

    /// The number of origins that are paused or wait for a probe, in each lane that has any.
    var pausedCountsByLane: [LaneID: Int] {
        known.withLock { known in
            known.reduce(into: [:]) { if !$1.value.breaker.isClosed { $0[$1.key.lane, default: 0] += 1 } }
        }
    }

    private func change(_ key: Key, at now: Timestamp, _ change: (inout Known) -> Void) {
        known.withLock { known in
            if known[key] == nil, known.count >= Self.limit {
                let rest = known.lazy.filter { !$0.value.isPaused(at: now) }
                guard let oldest = rest.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
                known[oldest.key] = nil
            }
            known[key, default: Known(usedAt: now)].usedAt = now
            if var found = known[key] {
                change(&found)
                known[key] = found
            }
        }
    }
}
