public import MartletModel
import Synchronization

/// An origin to which no push of a lane gets through at present.
public struct ServiceFailure: Sendable, Equatable {
    public var lane: LaneID
    public var origin: String
    /// The time of the first failure after the last push that got through.
    public var since: Timestamp
    /// When the last push failed.
    public var lastAt: Timestamp
    /// The number of failed attempts from `since` on.
    public var attempts = 0
    /// The outcome of the last failed push.
    public var outcome: Outcome
    /// The HTTP status of the last failed push; nil if there was no answer.
    public var status: Int?
    /// Whether no push of the lane has got through to any other origin after `since`.
    public var isWholeLane = true
}

/// The origins to which pushes of a lane fail one after the other and are retried. The metrics do not count retries as
/// failures. Without this list, an outage of a push service would show only when notifications expire.
///
/// An origin is added when all pushes of a batch fail in a way that is worth a retry. It is removed by the first push
/// that the push service accepts or refuses for good.
final class FailingServices: Sendable {
    private struct State {
        var failures: [LaneID: [String: ServiceFailure]] = [:]
        var count = 0
    }

    /// The maximum number of origins that are recorded; further origins are not recorded. The limit is needed because
    /// devices choose some of the origins.
    static let limit = 1024

    private let state = Mutex(State())
    /// The number of origins in `state`. It is kept here too, so that a successful batch takes no lock while nothing
    /// fails.
    private let count = Atomic<Int>(0)

    /// Records the results of a batch that went to one origin.
    /// - Parameters:
    ///   - successes: The number of plain successes (`PlainSuccess`).
    ///   - answers: All other results.
    func record(_ successes: Int, _ answers: [ResultCollector.Answer], of lane: LaneID, _ origin: String) {
        let isWorking = successes > 0 || answers.contains { $0.outcome.isFinal }
        guard !isWorking || count.load(ordering: .relaxed) > 0 else { return }
        state.withLock { state in
            if isWorking {
                recover(lane, origin, in: &state)
            } else {
                fail(answers.filter(\.isFailure), of: lane, origin, in: &state)
            }
            count.store(state.count, ordering: .relaxed)
        }
    }

    private func recover(_ lane: LaneID, _ origin: String, in state: inout State) {
        guard var known = state.failures[lane] else { return }
        if known.removeValue(forKey: origin) != nil { state.count -= 1 }
        for other in known.keys { known[other]?.isWholeLane = false }
        state.failures[lane] = known.isEmpty ? nil : known
    }

    private func fail(
        _ answers: [ResultCollector.Answer], of lane: LaneID, _ origin: String, in state: inout State
    ) {
        guard let first = answers.first, let last = answers.last else { return }
        var failure =
            state.failures[lane]?[origin]
            ?? ServiceFailure(lane: lane, origin: origin, since: first.at, lastAt: last.at, outcome: last.outcome)
        if failure.attempts == 0 {
            guard state.count < Self.limit else { return }
            state.count += 1
        }
        failure.attempts += answers.count
        (failure.lastAt, failure.outcome, failure.status) = (last.at, last.outcome, last.status)
        // If the clock was set back, `since` must not stay in the future.
        failure.since = min(failure.since, first.at)
        state.failures[lane, default: [:]][origin] = failure
    }

    /// Removes the failures of a hub that was deleted, that has new credentials, or for which another process sends
    /// now.
    func forget(_ hub: Hub.ID) {
        state.withLock { state in
            state.failures = state.failures.filter { $0.key.hub != hub }
            state.count = state.failures.values.reduce(0) { $0 + $1.count }
            count.store(state.count, ordering: .relaxed)
        }
    }

    var all: [ServiceFailure] { state.withLock { $0.failures.values.flatMap(\.values) } }
}

extension Outcome {
    /// Whether the push service has accepted or refused the push for good.
    fileprivate var isFinal: Bool {
        switch reaction {
        case .accepted, .drop, .update, .refuse, .refuseAll: true
        case .retry, .retryElsewhere, .reauthorize, .stop: false
        }
    }
}

extension ResultCollector.Answer {
    /// Whether the push is tried again because the push service failed or could not be reached. Not a failure of the
    /// service: a token that must be renewed, or a request that was never sent.
    var isFailure: Bool {
        switch outcome.reaction {
        case .retry, .retryElsewhere: outcome != .noTurn
        case .accepted, .drop, .update, .refuse, .refuseAll, .reauthorize, .stop: false
        }
    }
}
