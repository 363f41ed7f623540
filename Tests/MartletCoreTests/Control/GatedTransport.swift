import MartletHTTP
import Synchronization

@testable import MartletCore

/// A push service that takes a few requests at a time and answers when the test says so, as one does that is slow. What
/// is stopped before it was drawn is reported as never sent.
final class GatedTransport: HTTPTransport {
    /// A push that was written to the service.
    struct Drawn: Hashable, Sendable {
        var loft: String
        var body: String
    }

    private struct Batch {
        var batch: RequestBatch
        var results: @Sendable (ResultPortion) -> Void
        var next = 0
        var open: [Int] = []
        /// Answers that are being told: the batch is not over before.
        var telling = 0
        var isStopped = false
        var done: CheckedContinuation<Void, Never>?
    }

    private struct State {
        var batches: [Int: Batch] = [:]
        var last = 0
        var drawn: [Drawn] = []
        var answered: [(Drawn, HTTPStatus?)] = []
        var isDead = false
    }

    /// Requests under way of one batch.
    private let window: Int
    private let state = Mutex(State())

    init(window: Int) {
        self.window = window
    }

    /// Everything that was written, in its order.
    var drawn: [Drawn] { state.withLock { $0.drawn } }
    /// What was answered to what.
    var answered: [(push: Drawn, status: HTTPStatus?)] { state.withLock { $0.answered } }
    /// How many wait for their answer.
    var openCount: Int { state.withLock { $0.batches.values.reduce(0) { $0 + $1.open.count } } }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        let number = state.withLock { state in
            state.last += 1
            state.batches[state.last] = Batch(batch: batch, results: results)
            return state.last
        }
        await withCheckedContinuation { done in
            // A page may begin while its process is killed.
            let isDead = state.withLock { state in
                if !state.isDead { state.batches[number]?.done = done }
                return state.isDead
            }
            if isDead { return done.resume() }
            _ = batch.stop?.onStop { [weak self] in self?.stop(number) }
            draw(number)
        }
    }

    private func stop(_ number: Int) {
        let (unsent, results) = state.withLock { state -> (Range<Int>, (@Sendable (ResultPortion) -> Void)?) in
            guard let batch = state.batches[number] else { return (0..<0, nil) }
            state.batches[number]?.isStopped = true
            state.batches[number]?.next = batch.batch.count
            return (batch.next..<batch.batch.count, batch.results)
        }
        let error = TransportError(.cancelled, mayHaveBeenProcessed: false, "stopped")
        for item in unsent { results?(ResultPortion(answers: [.init(index: item, result: .failure(error))])) }
        end(number)
    }

    private func draw(_ number: Int) {
        // A signal with a lease is set when somebody asks.
        if state.withLock({ $0.batches[number]?.batch.stop })?.isStopped == true { stop(number) }
        state.withLock { state in
            guard !state.isDead, var batch = state.batches[number] else { return }
            while batch.open.count < window, batch.next < batch.batch.count {
                state.drawn.append(Drawn(batch.batch, batch.next))
                batch.open.append(batch.next)
                batch.next += 1
            }
            state.batches[number] = batch
        }
        end(number)
    }

    private func end(_ number: Int) {
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let batch = state.batches[number], batch.open.isEmpty, batch.telling == 0,
                batch.next >= batch.batch.count,
                let done = batch.done
            else { return nil }
            state.batches[number] = nil
            return done
        }
        done?.resume()
    }

    /// Answers the oldest requests that wait, if any.
    func answer(_ count: Int = 1, _ result: Result<HTTPResponse, TransportError> = .success(HTTPResponse(.ok))) {
        for _ in 0..<count {
            let found = state.withLock { state -> (number: Int, item: Int, tell: @Sendable (ResultPortion) -> Void)? in
                guard !state.isDead,
                    let number = state.batches.filter({ !$0.value.open.isEmpty }).keys.min(),
                    let tell = state.batches[number]?.results,
                    let batch = state.batches[number]?.batch, let item = state.batches[number]?.open.removeFirst()
                else { return nil }
                state.batches[number]?.telling += 1
                state.answered.append((Drawn(batch, item), try? result.get().status))
                return (number, item, tell)
            }
            guard let (number, item, tell) = found else { return }
            if case .success(let response) = result, response.status == .ok {
                tell(ResultPortion(plainSuccesses: [UInt32(item)]))
            } else {
                tell(ResultPortion(answers: [.init(index: item, result: result)]))
            }
            state.withLock { $0.batches[number]?.telling -= 1 }
            draw(number)
        }
    }

    /// The process that uses it was killed: nobody hears of what is under way, and nothing more is written.
    func die() {
        let left = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isDead = true
            defer { state.batches = [:] }
            return state.batches.values.compactMap(\.done)
        }
        for done in left { done.resume() }
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.unreachable, mayHaveBeenProcessed: false, "no single requests are expected")
    }
}

extension GatedTransport.Drawn {
    fileprivate init(_ batch: RequestBatch, _ item: Int) {
        loft = batch.withPath(item) { String(decoding: $0, as: UTF8.self) }
        body = batch.withBody(item) { String(decoding: $0, as: UTF8.self) }
    }
}
