import Testing

@testable import MartletNetwork

struct InFlightLimitTests {
    private static let slow = SimulatedService(rate: 500, latency: 0.001)
    private static let fast = SimulatedService(rate: 50_000, latency: 0.001)

    private func connection(isLimited: Bool = true) -> SimulatedConnection {
        SimulatedConnection(limit: InFlightLimit(least: 50), isLimited: isLimited)
    }

    @Test func aSlowServiceHasWhatItAnswersIn200MillisecondsFromTheStart() {
        var connection = connection()
        for _ in 0..<30 {
            let rate = connection.pass(1, Self.slow)
            #expect(rate > 495)
            #expect(connection.mostInFlight <= 110)
        }
    }

    @Test func requestsInFlightAreNeverLimitedFurther() {
        var connection = connection()
        connection.pass(20, SimulatedService(rate: 5, latency: 0.001))
        #expect(connection.mostInFlight == 50)
    }

    /// Far away, or with much to do for each request, or answering in bursts.
    @Test(arguments: [
        SimulatedService(rate: 1_000_000, latency: 0), SimulatedService(rate: 50_000, latency: 0.001),
        SimulatedService(rate: 1_000_000, latency: 0.03), SimulatedService(rate: 1_000_000, latency: 0.1),
        SimulatedService(rate: 1_000_000, latency: 0.19), SimulatedService(rate: 1_000_000, latency: 0.3),
        SimulatedService(rate: 1_000_000, latency: 1), SimulatedService(rate: 500, latency: 0, interval: 0.1),
        SimulatedService(rate: 1_000_000, latency: 0, interval: 0.5),
        SimulatedService(rate: 1_000_000, latency: 0.08, spread: 0.42),
        SimulatedService(rate: 2000, latency: 0.08, spread: 0.22),
    ])
    func aServiceThatCouldDoMoreHasAllThatTheStreamsTake(_ service: SimulatedService) {
        var (limited, free) = (connection(), connection(isLimited: false))
        limited.pass(10, service)
        free.pass(10, service)
        let rates = (limited.pass(20, service), free.pass(20, service))
        #expect(rates.0 >= 0.95 * rates.1, "\(rates.0) of \(rates.1) a second")
    }

    @Test func itOpensFourfoldWithEachRoundTrip() {
        var connection = connection()
        connection.pass(0.125, SimulatedService(rate: 1_000_000, latency: 0.03))
        #expect(connection.inFlight == 1000)
    }

    @Test func aServiceThatBecomesAHundredTimesSlowerHasLessWithinASecond() {
        var connection = connection()
        connection.streams = 4000
        connection.pass(2, Self.fast)
        connection.pass(1, Self.slow)
        #expect(connection.limit.current <= 110)
        // What was written before is answered first.
        connection.pass(8, Self.slow)
        #expect(connection.inFlight <= 110)
        connection.becomeFree()
        connection.pass(0.5, Self.fast)
        #expect(connection.pass(0.5, Self.fast) > 0.95 * 50_000)
    }

    @Test func aStallCostsNoSpeed() {
        var service = SimulatedService(rate: 20_000, latency: 0.03)
        var connection = connection()
        connection.pass(2, service)
        service.stall = 2..<4
        connection.pass(2.1, service)
        #expect(connection.pass(0.5, service) > 0.95 * 20_000)
    }

    @Test func aServiceThatComesToNeedLongerForEachRequestHasMoreInFlight() {
        var (limited, free) = (connection(), connection(isLimited: false))
        limited.pass(2, Self.fast)
        free.pass(2, Self.fast)
        let later = SimulatedService(rate: 50_000, latency: 0.4)
        limited.pass(10, later)
        free.pass(10, later)
        #expect(limited.pass(10, later) >= 0.95 * free.pass(10, later))
    }

    @Test func sendingLittleLowersNothing() {
        var connection = connection()
        connection.pass(2, Self.fast)
        let limit = connection.limit.current
        #expect(limit >= 1000)
        for _ in 0..<100 {
            connection.waiting = 10
            connection.pass(0.1, SimulatedService(rate: 1000, latency: 0.001))
        }
        #expect(connection.limit.current == limit)
    }

    @Test func anotherConnectionBeginsWithWhatTheOthersHave() {
        #expect(InFlightLimit(least: 50).current == 50)
        #expect(InFlightLimit(least: 50, startingAt: 700).current == 700)
    }
}
