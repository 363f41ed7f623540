import MartletHTTP
import MartletModel
import Synchronization

/// Receives the results of a batch from the transport. The bits of successes are set in the progress map at once, so
/// that a kill of the process does not lose them. All other results are kept until `drain` is called. A plain success
/// is a response that the transport only counts and does not pass on (`RequestBatch.Shared.plainSuccess`).
final class ResultCollector: Sendable {
    /// The result of a request that was not a plain success.
    struct Answer: Sendable {
        /// The index of the member in the page.
        var index: Int
        var outcome: Outcome
        /// The HTTP status; nil if no answer was received.
        var status: Int?
        /// The number of the connection that carried the request; nil if the request was not sent.
        var connection: Int?
        /// Why no answer was received. nil if an answer was received, or if the request was not sent, for example
        /// because no connection could accept it in time.
        var failure: Failure?
        var at: Timestamp
    }

    /// Why no answer was received.
    enum Failure: Sendable {
        /// The request was reset or timed out, but its connection stayed up.
        case request
        /// The connection broke.
        case connection
        /// No connection could be established.
        case unreachable
    }

    private struct State {
        var successes = 0
        var answers: [Answer] = []
        var held: [Int] = []
    }

    /// How long an origin that misbehaves is paused. This is the longest pause of a failing origin.
    private static let misbehaviourPause = CircuitBreaker.Terms.origin.longestPause

    private let service: any PushService
    private let messages: PageMessages
    private let members: [AudienceMember]
    /// For each item of the batch, the index of its member in the page.
    private let indices: [Int]
    private let map: any ProgressMap
    /// Whether the origin was chosen by the devices.
    private let isOwnOrigin: Bool
    /// The network addresses to which the batch may be sent.
    private let addresses: TransportSettings.Addresses
    private let time: any TimeSource
    private let state = Mutex(State())

    init(
        service: any PushService, messages: PageMessages, members: [AudienceMember], indices: [Int],
        map: any ProgressMap, isOwnOrigin: Bool, addresses: TransportSettings.Addresses, time: any TimeSource
    ) {
        self.service = service
        self.messages = messages
        self.members = members
        self.indices = indices
        self.map = map
        self.isOwnOrigin = isOwnOrigin
        self.addresses = addresses
        self.time = time
    }

    func take(_ portion: ResultPortion) {
        for index in portion.plainSuccesses { map.insert(members[indices[Int(index)]]) }
        guard !portion.answers.isEmpty else {
            return state.withLock { $0.successes += portion.plainSuccesses.count }
        }
        let now = time.now
        var held: [Int] = []
        let answers = portion.answers.compactMap { answer -> Answer? in
            let index = indices[answer.index]
            if case .failure(let error) = answer.result, error.kind == .cancelled {
                held.append(index)
                return nil
            }
            return Answer(
                index: index, outcome: outcome(of: answer.result, at: index, now), status: answer.status,
                connection: answer.connection, failure: answer.failure, at: now)
        }
        for answer in answers where answer.outcome.isSuccess { map.insert(members[answer.index]) }
        state.withLock { state in
            state.successes += portion.plainSuccesses.count
            state.answers += answers
            state.held += held
        }
    }

    /// Returns the number of plain successes, all other answers, and the indices of the members that were not sent to
    /// because sending was stopped. Call this after the transport has delivered all results.
    func drain() -> (successes: Int, answers: [Answer], held: [Int]) {
        state.withLock { state in
            defer { state = State() }
            return (state.successes, state.answers, state.held)
        }
    }

    private func outcome(of result: Result<HTTPResponse, TransportError>, at index: Int, _ now: Timestamp) -> Outcome {
        switch result {
        case .success(let response): service.outcome(of: response, to: messages[index], at: now)
        case .failure(let error): outcome(of: error)
        }
    }

    /// Maps a transport error to an outcome. If no connection can be established, the whole lane fails. If a connection
    /// broke or a request was not answered, only the device fails, because other devices may have been served in the
    /// meantime. If devices have chosen the origin, only that origin fails. Such an origin is paused for the longest
    /// time if it has misbehaved.
    private func outcome(of error: TransportError) -> Outcome {
        let reason = error.reason(at: addresses)
        return switch error.kind {
        case .misbehaved where isOwnOrigin:
            Outcome(.pnsInterfaceError, reason: reason, .retry(after: Self.misbehaviourPause, scope: .origin))
        case .unresolved where isOwnOrigin, .unreachable where isOwnOrigin, .insecure where isOwnOrigin,
            .disconnected where isOwnOrigin, .reset where isOwnOrigin, .timedOut where isOwnOrigin:
            Outcome(.pnsUnreachable, reason: reason, .retry(after: .seconds(1), scope: .origin))
        case .timedOut where !error.mayHaveBeenProcessed: .noTurn
        case .unresolved, .unreachable, .insecure, .cancelled, .shutDown:
            Outcome(.pnsUnreachable, reason: reason, .retry(after: .seconds(1), scope: .platform))
        case .disconnected, .misbehaved, .reset, .timedOut:
            Outcome(.pnsUnreachable, reason: reason, .retry(after: .seconds(1), scope: .device))
        case .invalidRequest:
            Outcome(.pnsInterfaceError, reason: reason, .refuse)
        }
    }
}

extension ResultPortion.Answer {
    fileprivate var status: Int? {
        if case .success(let response) = result { Int(response.status.code) } else { nil }
    }

    fileprivate var failure: ResultCollector.Failure? {
        guard case .failure(let error) = result else { return nil }
        return switch error.kind {
        case .unresolved, .unreachable, .insecure: .unreachable
        case .disconnected, .misbehaved: .connection
        case .reset: .request
        case .timedOut: error.mayHaveBeenProcessed ? .request : nil
        case .cancelled, .shutDown, .invalidRequest: nil
        }
    }
}
