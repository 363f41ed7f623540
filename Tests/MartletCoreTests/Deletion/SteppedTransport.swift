import MartletHTTP
import Synchronization

@testable import MartletCore

/// A push service whose batches are steps, before they are sent and before their answers are noted. It obeys a stop.
final class SteppedTransport: HTTPTransport {
    private let steps: Steps
    private let base: ScriptedTransport
    private let isForbidden = Mutex(false)
    private let late = Mutex(0)

    init(steps: Steps, _ answer: @escaping ScriptedTransport.Answer) {
        self.steps = steps
        base = ScriptedTransport(answer)
    }

    var sent: [ScriptedTransport.Sent] { base.sent }

    /// From now on nothing is to be sent.
    func forbid() { isForbidden.withLock { $0 = true } }

    /// Batches that were sent nevertheless.
    var forbiddenCount: Int { late.withLock { $0 } }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        await steps.next()
        if batch.stop?.isStopped == true {
            let error = TransportError(.cancelled, mayHaveBeenProcessed: false, "stopped")
            return results(
                ResultPortion(answers: (0..<batch.count).map { .init(index: $0, result: .failure(error)) }))
        }
        if isForbidden.withLock({ $0 }) { late.withLock { $0 += 1 } }
        await base.send(batch, before: deadline, results: results)
        await steps.next()
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        try await base.send(request, to: origin, settings: settings, before: deadline)
    }
}
