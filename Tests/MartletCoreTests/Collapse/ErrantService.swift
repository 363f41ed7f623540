import MartletHTTP
import MartletModel
import Synchronization

@testable import MartletCore

/// Takes pushes one by one, slowly, while others come as well; throttles some and leaves the answers to others out.
final class ErrantService: Sendable {
    /// What one device has under one key.
    struct Box: Hashable {
        var loft: String
        var key: String
    }

    /// A batch that nothing will ever come of, with the delivery that it is of.
    private struct Hanging {
        var delivery: Delivery.ID?
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var dice: Dice
        var life = 0
        var isWell = false
        var isClosed = false
        var last: [Box: Int] = [:]
        var setbacks: [String] = []
        var hanging: [Int: [Hanging]] = [:]
    }

    private let state: Mutex<State>

    init(_ dice: Dice) {
        state = Mutex(State(dice: dice))
    }

    /// What came after something newer.
    var setbacks: [String] { state.withLock { $0.setbacks } }
    func last(of box: Box) -> Int? { state.withLock { $0.last[box] } }

    /// From now on everything is taken and answered.
    func heal() { state.withLock { $0.isWell = true } }

    /// Nothing comes any more from the lines that there are.
    func kill() { state.withLock { $0.life += 1 } }

    func makeLine() -> Line { Line(service: self, life: state.withLock(\.life)) }

    /// Lets go of what is left of killed processes.
    func close() {
        let hanging = state.withLock { state in
            state.isClosed = true
            defer { state.hanging = [:] }
            return state.hanging.values.flatMap(\.self)
        }
        for batch in hanging { batch.continuation.resume() }
    }

    private enum Fate { case taken, unanswered, throttled, lost }

    /// - Parameter text: The number of the notification, by which they are ordered.
    private func take(_ text: Int, _ box: Box, in life: Int) -> Fate {
        state.withLock { state in
            guard life == state.life else { return .lost }
            let fate: Fate =
                switch state.isWell ? 0 : state.dice.roll(10) {
                case 0...5: .taken
                case 6: .unanswered
                default: .throttled
                }
            guard fate != .throttled else { return fate }
            if let last = state.last[box], last > text { state.setbacks.append("\(box.loft): \(text) behind \(last)") }
            state.last[box] = text
            return fate
        }
    }

    private func roll(_ sides: Int) -> Int { state.withLock { $0.dice.roll(sides) } }

    private func hang(_ life: Int) async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed {
                    let batch = Hanging(delivery: Line.delivery, continuation: continuation)
                    state.hanging[life, default: []].append(batch)
                }
                return state.isClosed
            }
            if isClosed { continuation.resume() }
        }
    }

    /// The connections of one process.
    struct Line: HTTPTransport {
        fileprivate let service: ErrantService
        fileprivate let life: Int

        /// The delivery that a task sends.
        @TaskLocal static var delivery: Delivery.ID?

        /// How many deliveries hang. One may hang with several batches, since suspected stale devices have their own.
        var hanging: Int { service.state.withLock { Set(($0.hanging[life] ?? []).map(\.delivery)).count } }

        func send(
            _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
            results: @escaping @Sendable (ResultPortion) -> Void
        ) async {
            for index in 0..<batch.count {
                for _ in 0..<service.roll(12) { await Task.yield() }
                let loft = batch.withPath(index) { String(decoding: $0, as: UTF8.self) }.split(separator: "/").last
                let text = batch.withBody(index) { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                let box = Box(loft: loft?.lowercased() ?? "", key: batch.shared.fields["pigeon-collapse"] ?? "")
                switch service.take(text, box, in: life) {
                case .taken: results(ResultPortion(plainSuccesses: [UInt32(index)]))
                case .throttled: results(ResultPortion(answers: [.init(index: index, result: answered(429))]))
                case .unanswered:
                    let error = TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer")
                    results(ResultPortion(answers: [.init(index: index, result: .failure(error))]))
                case .lost: return await service.hang(life)
                }
            }
        }

        func send(
            _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
            before deadline: ContinuousClock.Instant
        ) async throws(TransportError) -> HTTPResponse {
            throw TransportError(.unreachable, mayHaveBeenProcessed: false, "no single requests are expected")
        }
    }
}

/// Random numbers that a seed repeats (splitmix64).
struct Dice: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// 0 up to `sides`.
    mutating func roll(_ sides: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(max(sides, 1)))
    }
}
