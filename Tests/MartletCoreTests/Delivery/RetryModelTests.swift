import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Random answers, kills and moves of the clock, against what must hold of retries whatever happens.
struct RetryModelTests {
    private static let devices = 12

    @Test(arguments: 1...60)
    func noRetryIsHurriedForgottenOrMadeTwiceWhateverHappens(seed: UInt64) async throws {
        let script = Script(seed: seed)
        var flight = try await Flight(pageSize: 5, jitter: 1) { loft, _ in script.answer(loft) }
        script.time = flight.time
        try await flight.register(Self.devices)
        let delivery = try await flight.accept(lifetime: .seconds(4000))
        script.expiry = delivery.notification.expiresAt
        var wasAnythingLost = false
        for _ in 0..<400 {
            let before = flight.storage.copy()
            guard try await !flight.storage.unfinished(after: .none, limit: 1).isEmpty else { break }
            let ending = try await flight.run(delivery)
            switch script.roll(10) {
            // The map of a delivery is removed once its end is recorded, which is not forgotten then.
            case 0 where ending != .finished:
                // Killed before what the last run came to was recorded.
                flight = try await Flight(flight, restartedWith: before)
                script.forgetRun()
                wasAnythingLost = true
            case 1, 2:
                script.keepRun()
                flight = try await Flight(flight)
            default: script.keepRun()
            }
            try await check(flight, delivery, wasAnythingLost: wasAnythingLost)
            if script.roll(3) > 0 { flight.time.advance(by: .seconds(Int64(script.roll(120)))) }
        }
        flight.time.advance(by: .seconds(4000))
        if try await !flight.storage.unfinished(after: .none, limit: 1).isEmpty { _ = try await flight.run(delivery) }
        try await checkEnd(flight, delivery)
        #expect(script.violations == [])
    }

    private func check(_ flight: Flight, _ delivery: Delivery, wasAnythingLost: Bool) async throws {
        let retries = try await flight.storage.retries(of: delivery.id, due: .distantFuture, limit: .max)
        let refused = Set(try await flight.refusals(delivery).compactMap(\.registration))
        let map = try flight.maps.map(for: delivery.id, through: delivery.lastNumber)
        for retry in retries {
            #expect(!refused.contains("r\(retry.member.channel.rawValue)"), "refused for good and tried again")
            #expect(wasAnythingLost || !map.contains(retry.member), "reached and tried again")
            #expect(retry.dueAt < delivery.notification.expiresAt)
            let sent = flight.transport.lofts.count { $0 == "loft\(retry.member.channel.rawValue)" }
            #expect(retry.attempts <= sent)
        }
        #expect(Set(retries.map(\.member)).count == retries.count)
    }

    private func checkEnd(_ flight: Flight, _ delivery: Delivery) async throws {
        let report = try await flight.report(delivery)
        #expect(report.state.isFinal)
        #expect(report.counts.values.reduce(0, +) == Self.devices, "each is counted once")
        #expect(try await flight.storage.nextRetry(of: delivery.id) == nil)
        let refused = try await flight.refusals(delivery)
        #expect(refused.count == Self.devices - (report.counts[.success] ?? 0), "who was not reached is a dead letter")
        #expect(refused.allSatisfy { !$0.reason.isEmpty })
    }
}

/// What the pigeons' service answers by chance, and which of its wishes were not respected.
private final class Script: Sendable {
    private struct State {
        var generator: Generator
        var time: ManualTimeSource?
        var expiry = Timestamp.distantFuture
        /// When each loft, and all of them, may be sent to again; and what the run that is under way adds.
        var waits: [String: Timestamp] = [:]
        var waitOfAll = Timestamp(seconds: 0)
        var newWaits: [String: Timestamp] = [:]
        var newWaitOfAll = Timestamp(seconds: 0)
        var done: Set<String> = []
        var refused: Set<String> = []
        var newRefused: Set<String> = []
        var violations: [String] = []
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(generator: Generator(state: seed)))
    }

    var time: ManualTimeSource? {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }
    var expiry: Timestamp {
        get { state.withLock { $0.expiry } }
        set { state.withLock { $0.expiry = newValue } }
    }
    var violations: [String] { state.withLock { $0.violations } }

    func roll(_ sides: Int) -> Int { state.withLock { Int.random(in: 0..<sides, using: &$0.generator) } }

    /// What the last run has learnt is on disk.
    func keepRun() {
        state.withLock { state in
            state.waits.merge(state.newWaits) { max($0, $1) }
            state.waitOfAll = max(state.waitOfAll, state.newWaitOfAll)
            state.refused.formUnion(state.newRefused)
            Self.clear(&state)
        }
    }

    func forgetRun() { state.withLock { Self.clear(&$0) } }

    private static func clear(_ state: inout State) {
        state.newWaits = [:]
        state.newWaitOfAll = Timestamp(seconds: 0)
        state.newRefused = []
    }

    func answer(_ loft: String) -> Result<HTTPResponse, TransportError> {
        state.withLock { state in
            let now = state.time?.now ?? Timestamp(seconds: 0)
            if now < state.waits[loft] ?? now { state.violations.append("\(loft) was hurried") }
            if now < state.waitOfAll { state.violations.append("\(loft) was sent into a pause") }
            if now >= state.expiry { state.violations.append("\(loft) was sent to after the end") }
            if state.done.contains(loft) { state.violations.append("\(loft) was sent to twice") }
            if state.refused.contains(loft) { state.violations.append("\(loft) had been refused") }
            let wait = Int64.random(in: 1...900, using: &state.generator)
            switch Int.random(in: 0..<12, using: &state.generator) {
            case 0, 1:
                state.done.insert(loft)
                return answered(200)
            case 2:
                state.newRefused.insert(loft)
                return answered(400)
            case 3, 4:
                let until = now + .seconds(wait)
                state.newWaitOfAll = max(state.newWaitOfAll, until)
                return answered(503, ["retry-after": String(wait)])
            case 5:
                return .failure(TransportError(.timedOut, mayHaveBeenProcessed: true, "nobody answers"))
            default:
                state.newWaits[loft] = now + .seconds(wait)
                return answered(429, ["retry-after": String(wait)])
            }
        }
    }
}

/// A small generator of numbers that are the same for a seed on every machine (SplitMix64).
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
