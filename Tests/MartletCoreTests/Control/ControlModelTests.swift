import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// Random sequences of everything that can happen to sends under way, against what must hold whatever happens.
struct ControlModelTests {
    private static let devices = 37

    private struct Send {
        let id: NotificationID
        let body: String
        /// How many pushes were written when it was held or canceled; nil while it may write.
        var still: Int?
        var isCanceled = false
    }

    @Test(.timeLimit(.minutes(10)), arguments: 1...12 as ClosedRange<UInt64>)
    func numbersAddUpAndNobodyIsToldTwiceOrAgainstAWish(seed: UInt64) async throws {
        try await run(seed: seed)
    }

    @Test(.timeLimit(.minutes(10)), arguments: 101...112 as ClosedRange<UInt64>)
    func killsChangeNothingButWhatWasUnanswered(seed: UInt64) async throws {
        try await run(seed: seed, withKills: true)
    }

    @Test(.timeLimit(.minutes(10)), arguments: 201...208 as ClosedRange<UInt64>)
    func killsOfANodeThatKeepsItsMapsChangeNothingButWhatWasUnanswered(seed: UInt64) async throws {
        try await run(seed: seed, withKills: true, isShared: true)
    }

    @Test(.timeLimit(.minutes(10)), arguments: 301...312 as ClosedRange<UInt64>)
    func anotherNodeThatGoesOnChangesNothing(seed: UInt64) async throws {
        try await run(seed: seed, isShared: true)
    }

    /// - Parameters:
    ///   - withKills: Whether processes are killed, and started again with their maps.
    ///   - isShared: Whether other nodes can go on. Without kills, they do, with maps of their own.
    private func run(seed: UInt64, withKills: Bool = false, isShared: Bool = false) async throws {
        var random = Seeded(seed)
        let tower = try await Tower(devices: Self.devices, window: 3, pageSize: 8, isShared: isShared)
        var sends: [Send] = []
        for step in 1...150 {
            try await act(tower, &sends, withKills: withKills, withTakeovers: isShared && !withKills, &random)
            for _ in 0..<Int.random(in: 0...30, using: &random) { await Task.yield() }
            for send in sends {
                guard let still = send.still else { continue }
                let written = tower.drawn.count { $0.body == send.body }
                #expect(written == still, "seed \(seed), step \(step): '\(send.body)' was written against a wish")
            }
        }
        for send in sends { _ = try await tower.apply(.resume, send.id) }
        for send in sends {
            try await tower.finish(send.id)
            try await check(send, tower, withKills: withKills, "seed \(seed): '\(send.body)'")
        }
        // A map goes when the end is recorded.
        await tower.until { tower.maps.count == 0 }
        await tower.stop()
    }

    private func act(
        _ tower: Tower, _ sends: inout [Send], withKills: Bool, withTakeovers: Bool, _ random: inout Seeded
    ) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8 where sends.count < 8:
            let body = "send \(sends.count)"
            let lifetime = Duration.seconds(Bool.random(using: &random) ? 86_400 : 900)
            let rollout = Int.random(in: 0..<4, using: &random) == 0 ? Rollout(.rate(5)) : nil
            sends.append(
                Send(id: try await tower.accept(body, lifetime: lifetime, rollout: rollout), body: body))
        case 8..<60:
            let results: [Result<HTTPResponse, TransportError>] = [
                answered(200), answered(200), answered(200), answered(400), answered(429, ["retry-after": "10"]),
            ]
            tower.transport.answer(
                Int.random(in: 1...6, using: &random), results.randomElement(using: &random) ?? answered(200))
        case 60..<75:
            guard let wake = tower.time.nextWake else { return }
            let soon = tower.time.now + .seconds(Int64.random(in: 1...30, using: &random))
            tower.time.advance(to: max(tower.time.now, min(wake, soon)))
        case 75..<97:
            guard let index = sends.indices.randomElement(using: &random) else { return }
            let wish =
                [ControlRequest.pause, .pause, .resume, .resume, .cancel].randomElement(using: &random) ?? .pause
            try await apply(wish, &sends[index], tower)
        default:
            if withTakeovers { return try await tower.handOver() }
            guard withKills else { return }
            await tower.kill()
            try await tower.start()
        }
    }

    private func apply(_ wish: ControlRequest, _ send: inout Send, _ tower: Tower) async throws {
        // From here on it may write again.
        if wish == .resume, !send.isCanceled { send.still = nil }
        guard case .done(let control, _, _) = try await tower.apply(wish, send.id) else { return }
        send.isCanceled = control == .canceled
        let body = send.body
        if control != .running, send.still == nil { send.still = tower.drawn.count { $0.body == body } }
    }

    private func check(_ send: Send, _ tower: Tower, withKills: Bool, _ what: String) async throws {
        let status = try await tower.status(send.id)
        let numbers = SendNumbers(status)
        #expect(numbers.targeted == Self.devices, "\(what) \(numbers)")
        #expect(numbers.sent + numbers.suppressed == Self.devices, "\(what) \(numbers)")
        #expect(numbers.pending == 0 && numbers.retrying == 0, "\(what) \(numbers)")
        #expect((status.report.state == .canceled) == send.isCanceled, "\(what) \(status.report.state)")
        #expect(send.isCanceled || numbers.suppressed == 0, "\(what) \(numbers)")
        let answers = tower.answered.filter { $0.push.body == send.body }
        let reached = answers.filter { $0.status == .ok }.map(\.push.loft)
        #expect(Set(reached).count == reached.count, "\(what): a device was reached twice")
        #expect(numbers.succeeded == reached.count, "\(what) \(numbers)")
        let stored = try #require(try await tower.storage.traced(send.id, in: tower.hub)).deliveries.map(\.delivery.id)
        var count = 0
        for delivery in stored {
            count += try await tower.storage.reached(by: delivery).reduce(0) { $0 + $1.numbers.count }
        }
        #expect(count == reached.count, "\(what): \(count) are stored as reached")
        guard !withKills else { return }
        let refused = answers.filter { $0.status == .badRequest }.map(\.push.loft)
        #expect(Set(reached + refused).count == reached.count + refused.count, "\(what): one was told after the end")
        let written = tower.drawn.count { $0.body == send.body }
        #expect(written == answers.count, "\(what): what was written is what was answered")
    }
}
