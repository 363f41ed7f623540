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
            case .later(let timestamp):
                #expect(timestamp > now)
                now = timestamp
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

    @Test func anIdleMeterAllowsThePushesOfOneSecond() {
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

    @Test func allowanceGivenBackCanBeUsedAgain() {
        var meter = RolloutMeter(rate: 400, at: start)
        #expect(meter.turn(for: 100, at: start) == .now(100))
        meter.giveBack(70)
        #expect(meter.turn(for: 70, at: start) == .now(70))
    }

    @Test("A roll-out of few devices over 28 days has one push each equal part of that time")
    func slowRatesAreEven() {
        let days = 28
        for devices in [1, 2, 3, 7, 100] {
            let time = Duration.seconds(days * 86_400)
            let rate = Rollout(.over(time)).rate(for: devices) ?? 0
            var meter = RolloutMeter(rate: rate, at: start)
            let found = turns(&meter, for: 5000, from: start, seconds: Int64(days) * 86_400 - 1)
            #expect(found.map(\.count) == Array(repeating: 1, count: devices))
            for (index, turn) in found.enumerated() {
                let due = Double(days * 86_400) / Double(devices) * Double(index)
                #expect(abs((turn.at - start) / .seconds(1) - due) < 1, "push \(index) of \(devices)")
            }
        }
    }

    @Test("A meter that follows another one goes on at its pace", arguments: [0.0001, 0.3, 1, 400])
    func restartsAddNothing(rate: Double) {
        var restarted = RolloutMeter(rate: rate, at: start)
        var (now, last, total) = (start, Timestamp?.none, 0.0)
        let end = start + .milliseconds(Int64(200_000 / rate))
        while now < end {
            restarted = RolloutMeter(rate: rate, lastSentAt: last, at: now)
            switch restarted.turn(for: 5000, at: now) {
            case .now(let count):
                total += Double(count)
                last = now
            case .later(let timestamp): now = timestamp
            }
        }
        #expect(total <= 200 + max(1, rate / 4))
        #expect(total >= 198)
    }

    @Test("A meter that follows another one after a long time has a second's worth, or one push")
    func timeWithoutAServerIsNotMadeUpFor() {
        let later = start + .seconds(86_400)
        var fast = RolloutMeter(rate: 100, lastSentAt: start, at: later)
        #expect(fast.turn(for: 5000, at: later) == .now(100))
        var slow = RolloutMeter(rate: 0.1, lastSentAt: start, at: later)
        #expect(slow.turn(for: 5000, at: later) == .now(1))
        #expect(slow.turn(for: 5000, at: later) == .later(later + .seconds(10)))
    }

    @Test("A meter begins with nothing where the clock was set back behind the last page")
    func aPageInTheFutureGivesNothingAway() {
        var meter = RolloutMeter(rate: 1, lastSentAt: start + .seconds(3600), at: start)
        #expect(meter.turn(for: 5000, at: start) == .later(start + .seconds(1)))
    }

    @Test func aClockThatIsSetBackGivesNothingAway() {
        var meter = RolloutMeter(rate: 100, at: start)
        _ = meter.turn(for: 5000, at: start)
        let before = start + .seconds(-3600)
        #expect(meter.turn(for: 5000, at: before) == .later(before + .milliseconds(250)))
        #expect(meter.turn(for: 5000, at: before + .milliseconds(250)) == .now(25))
    }
}
