import MartletHTTP
import MartletModel
import Synchronization

/// Which origins are left alone for a while because they have asked for it, where a lane's devices are at several.
final class OriginHolds: Sendable {
    private struct Key: Hashable {
        var lane: LaneID
        var origin: HTTPOrigin
    }

    private struct Hold {
        var until: Timestamp
        var cause: Outcome
    }

    /// Strangers choose origins: more than these are not remembered.
    private static let limit = 4096
    private let holds = Mutex<[Key: Hold]>([:])

    /// Notes an answer that asks for a wait on behalf of its origin.
    func note(_ outcome: Outcome, _ lane: LaneID, _ origin: HTTPOrigin?, at now: Timestamp) {
        guard let origin, case .retry(let wait, .origin) = outcome.reaction else { return }
        let key = Key(lane: lane, origin: origin)
        holds.withLock { holds in
            if holds.count >= Self.limit { holds = holds.filter { $0.value.until > now } }
            guard holds.count < Self.limit, holds[key].map({ $0.until < now + wait }) ?? true else { return }
            holds[key] = Hold(until: now + wait, cause: outcome)
        }
    }

    /// What a push comes to that is not sent now; nil where the origin may be sent to.
    func outcome(_ lane: LaneID, _ origin: HTTPOrigin?, at now: Timestamp) -> Outcome? {
        guard let origin else { return nil }
        let key = Key(lane: lane, origin: origin)
        return holds.withLock { holds in
            guard let hold = holds[key] else { return nil }
            guard hold.until > now else {
                holds[key] = nil
                return nil
            }
            return Outcome(
                hold.cause.name, reason: hold.cause.reason, .retry(after: hold.until - now, scope: .origin))
        }
    }
}
