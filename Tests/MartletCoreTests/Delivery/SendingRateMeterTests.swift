import MartletModel
import Testing

@testable import MartletCore

struct PaceMeterTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    /// Sends as fast as it may from one point in time to another: how many went in each second.
    private func messagesBySecond(_ meter: inout SendingRateMeter, from: Timestamp, seconds: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: seconds)
        var now = from
        while true {
            let second = Int((now - from).components.seconds)
            guard second < seconds else { return counts }
            switch meter.turn(for: 1_000_000, at: now) {
            case .now(let count): counts[second] += count
            case .later(let timestamp): now = timestamp
            }
        }
    }

    @Test func noMinuteHasMoreThanThePace() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 6000))
        let counts = messagesBySecond(&meter, from: start, seconds: 300)
        for second in 0..<240 {
            #expect(counts[second..<(second + 60)].reduce(0, +) <= 6000)
        }
        #expect(counts[240..<300].reduce(0, +) >= 5700, "and the pace is used")
    }

    @Test func aSenderWhoWasIdleGrowsToThePaceWithinAMinute() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 60_000))
        let counts = messagesBySecond(&meter, from: start, seconds: 120)
        #expect(counts[1..<4].max() ?? 0 <= 200)
        #expect((400...600).contains(counts[30]))
        #expect(counts[70] >= 950)
        let later = start + .seconds(400)
        #expect(meter.turn(for: 1_000_000, at: later) == .now(96), "idleness makes it begin again")
    }

    @Test func whereTheClockIsSetBackNobodyWaitsUntilItIsThereAgain() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 60))
        for _ in 0..<10 { _ = meter.turn(for: 1, at: Timestamp(seconds: 100_000)) }
        #expect(meter.turn(for: 1, at: Timestamp(seconds: 1000)) == .now(1))
    }

    @Test func aFewMessagesNeverWait() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 600_000))
        for second in 0..<100 {
            let now = start + .seconds(second)
            #expect(meter.turn(for: 500, at: now) == .now(500))
        }
    }

    @Test func aFewPassManyThatWait() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 600_000))
        guard case .now(966) = meter.turn(for: 5000, at: start),
            case .later(let timestamp) = meter.turn(for: 5000, at: start)
        else {
            Issue.record("many are held to the pace")
            return
        }
        #expect(timestamp > start)
        #expect(meter.turn(for: 1, at: start) == .now(1))
        #expect(meter.turn(for: 100, at: start + .milliseconds(110)) == .now(100))
    }

    @Test func theSlowestPaceLetsOneThroughAtATime() {
        var meter = SendingRateMeter(SendingRate(account: "a", messagesPerMinute: 0))
        #expect(meter.turn(for: 3, at: start) == .now(1))
        guard case .later(let timestamp) = meter.turn(for: 3, at: start) else {
            Issue.record("one at a time")
            return
        }
        #expect(timestamp > start)
    }
}
