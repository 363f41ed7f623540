import MartletHTTP
import MartletModel
import Synchronization

/// Which origins are left alone for a while, where a lane's devices are at several: because they have asked for it, or
/// because they answer nothing.
final class OriginBoard: Sendable {
    private struct Key: Hashable {
        var lane: LaneID
        var origin: HTTPOrigin
    }

    private struct Sick {
        var breaker = CircuitBreaker(.origin)
        var cause: Outcome
    }

    enum Entry: Sendable, Equatable {
        case free
        /// One push shows whether the origin is well again.
        case probe
        /// Nothing is sent until then, for a reason that was told by an answer or by the lack of one.
        case paused(until: Timestamp, Outcome)
    }

    /// Strangers choose origins: more than these are not remembered.
    private static let limit = 4096
    private let sick = Mutex<[Key: Sick]>([:])

    /// Asks for pushes to be let to an origin.
    func enter(_ lane: LaneID, _ origin: HTTPOrigin, at now: Timestamp, probeDuration: Duration) -> Entry {
        let key = Key(lane: lane, origin: origin)
        return sick.withLock { sick in
            guard var found = sick[key] else { return .free }
            defer { sick[key] = found }
            return switch found.breaker.enter(at: now, probeDuration: probeDuration) {
            case .free: .free
            case .probe: .probe
            case .paused(let until): .paused(until: until, found.cause)
            }
        }
    }

    /// Notes what pushes to an origin have come to.
    /// - Parameters:
    ///   - successes: Plain ones.
    ///   - outcomes: All others.
    ///   - isProbe: Whether they went as one; answers to what was let in before a pause do not end it.
    /// - Returns: A wait that the origin has asked for, which is to outlast the process.
    @discardableResult
    func note(
        successes: Int, _ outcomes: [Outcome], _ lane: LaneID, _ origin: HTTPOrigin, isProbe: Bool, at now: Timestamp
    ) -> LanePause? {
        var silent = 0
        var asked: (wait: Duration, cause: Outcome)?
        for outcome in outcomes {
            guard case .retry(let wait, .origin) = outcome.reaction else { continue }
            if outcome.name == .pnsUnreachable {
                silent += 1
            } else if wait > asked?.wait ?? .zero {
                asked = (wait, outcome)
            }
        }
        if let asked {
            let (cause, wait) = (asked.cause, asked.wait)
            change(lane, origin, cause, at: now) { _ = $0.pause(atLeast: wait, isProbe: isProbe, at: now) }
            return LanePause(
                origin: origin.description, until: now + wait, outcome: cause.name, reason: cause.reason)
        } else if successes + outcomes.count > silent {
            let key = Key(lane: lane, origin: origin)
            sick.withLock { sick in
                if isProbe || sick[key]?.breaker.isClosed ?? false { sick[key] = nil }
            }
        } else if let cause = outcomes.last {
            change(lane, origin, cause, at: now) { $0.fail(silent, isProbe: isProbe, at: now) }
        }
        return nil
    }

    /// Goes on with a pause of an origin that an earlier process was asked for.
    func restore(_ pause: LanePause, of lane: LaneID, at now: Timestamp) {
        guard let text = pause.origin, let origin = HTTPOrigin(text) else { return }
        let cause = Outcome(pause.outcome, reason: pause.reason, .retry(after: pause.until - now, scope: .origin))
        change(lane, origin, cause, at: now) { $0.restore(until: pause.until) }
    }

    /// A probe has not been sent after all.
    func endProbe(_ lane: LaneID, _ origin: HTTPOrigin) {
        sick.withLock { $0[Key(lane: lane, origin: origin)]?.breaker.endProbe() }
    }

    /// How many origins are paused, or wait for a probe, by platform.
    var pausedCounts: [PlatformID: Int] {
        sick.withLock { sick in
            sick.reduce(into: [:]) { if !$1.value.breaker.isClosed { $0[$1.key.lane.platform, default: 0] += 1 } }
        }
    }

    private func change(
        _ lane: LaneID, _ origin: HTTPOrigin, _ cause: Outcome, at now: Timestamp,
        _ change: (inout CircuitBreaker) -> Void
    ) {
        let key = Key(lane: lane, origin: origin)
        sick.withLock { sick in
            if sick[key] == nil, sick.count >= Self.limit {
                sick = sick.filter { $0.value.breaker.pausedUntil.map { $0 > now } ?? false }
            }
            guard sick[key] != nil || sick.count < Self.limit else { return }
            change(&sick[key, default: Sick(cause: cause)].breaker)
            sick[key]?.cause = cause
        }
    }
}
