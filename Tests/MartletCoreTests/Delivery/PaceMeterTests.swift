import MartletModel
import Testing

@testable import MartletCore

struct PaceMeterTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    /// Sends as fast as it may from one moment to another: how many went in each second.
    private func messagesBySecond(_ meter: inout PaceMeter, from: Timestamp, seconds: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: seconds)
        var now = from
        while true {
            let turn = meter.turn(for: 1_000_000, at: now)
            let second = Int((turn.at - from).components.seconds)
            guard second < seconds else { return counts }
            counts[second] += turn.count
            now = turn.at
        }
    }

    @Test func noMinuteHasMoreThanThePace() {
        var meter = PaceMeter(SendingPace(account: "a", messagesPerMinute: 6000))
        let counts = messagesBySecond(&meter, from: start, seconds: 300)
        for second in 0..<240 {
            #expect(counts[second..<(second + 60)].reduce(0, +) <= 6000)
        }
        #expect(counts[240..<300].reduce(0, +) >= 5700, "and the pace is used")
    }

    @Test func aSenderWhoWasIdleGrowsToThePaceWithinAMinute() {
        var meter = PaceMeter(SendingPace(account: "a", messagesPerMinute: 60_000))
        let counts = messagesBySecond(&meter, from: start, seconds: 120)
        #expect(counts[1..<4].max() ?? 0 <= 200)
        #expect((400...600).contains(counts[30]))
        #expect(counts[70] >= 950)
        let later = start + .seconds(400)
        #expect(meter.turn(for: 1_000_000, at: later).count < 100, "idleness makes it begin again")
    }

    @Test func whereTheClockIsSetBackNobodyWaitsUntilItIsThereAgain() {
        var meter = PaceMeter(SendingPace(account: "a", messagesPerMinute: 60))
        for _ in 0..<10 { _ = meter.turn(for: 1, at: Timestamp(seconds: 100_000)) }
        let turn = meter.turn(for: 1, at: Timestamp(seconds: 1000))
        #expect(turn.at == Timestamp(seconds: 1000))
    }

    @Test func aFewMessagesNeverWait() {
        var meter = PaceMeter(SendingPace(account: "a", messagesPerMinute: 600_000))
        for second in 0..<100 {
            let now = start + .seconds(second)
            #expect(meter.turn(for: 500, at: now) == PaceMeter.Turn(count: 500, at: now))
        }
    }

    @Test func theSlowestPaceLetsOneThroughAtATime() {
        var meter = PaceMeter(SendingPace(account: "a", messagesPerMinute: 0))
        #expect(meter.turn(for: 3, at: start) == PaceMeter.Turn(count: 1, at: start))
        let second = meter.turn(for: 3, at: start)
        #expect(second.count == 1 && second.at > start)
    }
}
