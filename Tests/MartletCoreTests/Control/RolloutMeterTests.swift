import MartletModel
import Testing

@testable import MartletCore

struct RolloutMeterTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    /// Sends as fast as it may: when how many went.
    private func turns(
        _ meter: inout RolloutMeter, for wanted: Int, from start: Timestamp, seconds: Int64
    ) -> [(at: Timestamp, count: Int)] {
        var found: [(Timestamp, Int)] = []
        var now = start
        while now < start + .seconds(seconds) {
            switch meter.turn(for: wanted, at: now) {
            case .now(let count): found.append((now, count))
            case .later(let moment):
                #expect(moment > now)
                now = moment
            }
        }
        return found
    }

    @Test(
        "Over a minute the rate is kept, and a second has at most two seconds' worth",
        arguments: [0.3, 1, 7, 500, 80_000])
    func theRateIsKept(rate: Double) {
        var meter = RolloutMeter(rate: rate, at: start)
        let found = turns(&meter, for: 5000, from: start, seconds: 60)
        let total = found.reduce(0) { $0 + $1.count }
        #expect(Double(total) <= rate * 60 + max(1, rate / 4) + 1)
        #expect(Double(total) >= rate * 59 - 1)
    }

    @Test func whoWasIdleMayHaveASecondsWorthAndNoMore() {
        var meter = RolloutMeter(rate: 100, at: start)
        #expect(meter.turn(for: 5000, at: start + .seconds(3600)) == .now(100))
        #expect(
            meter.turn(for: 5000, at: start + .seconds(3600)) == .later(start + .seconds(3600) + .milliseconds(250)))
    }

    @Test func pagesAreNotSmallerThanAQuarterOfASecondsWorth() {
        var meter = RolloutMeter(rate: 400, at: start)
        #expect(meter.turn(for: 5000, at: start) == .now(100))
        #expect(meter.turn(for: 5000, at: start + .milliseconds(100)) == .later(start + .milliseconds(250)))
        #expect(meter.turn(for: 10, at: start + .milliseconds(100)) == .now(10), "unless less is wanted")
    }

    @Test func whatIsGivenBackMayGoAgain() {
        var meter = RolloutMeter(rate: 400, at: start)
        #expect(meter.turn(for: 100, at: start) == .now(100))
        meter.giveBack(70)
        #expect(meter.turn(for: 70, at: start) == .now(70))
    }

    @Test func aClockThatIsSetBackGivesNothingAway() {
        var meter = RolloutMeter(rate: 100, at: start)
        _ = meter.turn(for: 5000, at: start)
        let before = start + .seconds(-3600)
        #expect(meter.turn(for: 5000, at: before) == .later(before + .milliseconds(250)))
        #expect(meter.turn(for: 5000, at: before + .milliseconds(250)) == .now(25))
    }
}
