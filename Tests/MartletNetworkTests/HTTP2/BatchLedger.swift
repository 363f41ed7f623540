import MartletHTTP
import Synchronization

@testable import MartletNetwork

/// Records what is told of the items of a batch.
final class BatchLedger: Sendable {
    /// What became of one item, in a form that compares.
    enum Entry: Equatable {
        case success
        case answer(status: Int, fields: [String], body: [UInt8])
        case failure(TransportError)
    }

    private let state = Mutex<(entries: [Int: Entry], doubles: Int, portions: Int)>(([:], 0, 0))

    var entries: [Int: Entry] { state.withLock { $0.entries } }
    /// How many items were told more than once.
    var doubles: Int { state.withLock { $0.doubles } }
    var portions: Int { state.withLock { $0.portions } }

    func record(_ portion: ResultPortion) {
        state.withLock { state in
            state.portions += 1
            for index in portion.plainSuccesses { Self.record(.success, Int(index), &state.entries, &state.doubles) }
            for answer in portion.answers {
                Self.record(Self.entry(answer.result), answer.index, &state.entries, &state.doubles)
            }
        }
    }

    private static func record(_ entry: Entry, _ index: Int, _ entries: inout [Int: Entry], _ doubles: inout Int) {
        if entries.updateValue(entry, forKey: index) != nil { doubles += 1 }
    }

    private static func entry(_ result: Result<HTTPResponse, TransportError>) -> Entry {
        switch result {
        case .failure(let error): .failure(error)
        case .success(let response):
            .answer(
                status: response.status.code, fields: response.fields.map { "\($0.name): \($0.value)" },
                body: response.bytes)
        }
    }

    func run(
        _ batch: RequestBatch, from now: ContinuousClock.Instant, before deadline: ContinuousClock.Instant
    ) -> BatchRun {
        BatchRun(batch, from: now, before: deadline, results: { self.record($0) }, completed: {})
    }
}
