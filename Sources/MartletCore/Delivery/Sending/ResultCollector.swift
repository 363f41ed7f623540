import MartletHTTP
import MartletModel
import Synchronization

/// Takes the results of a batch from the loops that bring them: successes become bits at once, so that they outlive a
/// kill; everything else is kept until the round is over.
final class ResultCollector: Sendable {
    /// What is neither a plain success nor over.
    struct Answer: Sendable {
        /// The item's index in the page.
        var index: Int
        var outcome: Outcome
        /// nil where no answer came.
        var status: Int?
        /// nil where it was not sent.
        var connection: Int?
        /// nil where an answer came, or nothing was sent for want of room.
        var failure: Failure?
        var at: Timestamp
    }

    /// Why no answer came.
    enum Failure: Sendable {
        /// The request was reset, or not answered in time, while its connection lived.
        case request
        /// The connection broke.
        case connection
        /// No connection could be made.
        case unreachable
    }

    private struct State {
        var successes = 0
        var answers: [Answer] = []
        var held: [Int] = []
    }

    private let service: any PushService
    private let messages: PageMessages
    private let members: [AudienceMember]
    /// For each item of the batch its index in the page.
    private let indices: [Int]
    private let map: any ProgressMap
    /// Whether the devices have chosen where they are reached.
    private let isOwnOrigin: Bool
    /// Which addresses the batch may be sent to.
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

    /// What came, how many were plain successes, and the indices of those that were not sent to because everything stops;
    /// called once the transport has told everything.
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

    /// A connection that cannot be made is the lane's misfortune; one that broke, or a request that was not answered,
    /// is the device's alone, because others may have been served meanwhile. An address that the device has chosen is
    /// nobody else's misfortune at all.
    private func outcome(of error: TransportError) -> Outcome {
        let reason = error.reason(at: addresses)
        return switch error.kind {
        case .unresolved where isOwnOrigin, .unreachable where isOwnOrigin, .insecure where isOwnOrigin,
            .disconnected where isOwnOrigin, .reset where isOwnOrigin, .timedOut where isOwnOrigin:
            Outcome(.pnsUnreachable, reason: reason, .retry(after: .seconds(1), scope: .origin))
        case .timedOut where !error.mayHaveBeenProcessed: .noTurn
        case .unresolved, .unreachable, .insecure, .cancelled, .shutDown:
            Outcome(.pnsUnreachable, reason: reason, .retry(after: .seconds(1), scope: .platform))
        case .disconnected, .reset, .timedOut:
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
        case .disconnected: .connection
        case .reset: .request
        case .timedOut: error.mayHaveBeenProcessed ? .request : nil
        case .cancelled, .shutDown, .invalidRequest: nil
        }
    }
}
