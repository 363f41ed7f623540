import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletServer

struct ServerTimeTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    @Test(arguments: [-86_400, -3600, -2, 2, 3600, 86_400] as [Int64])
    func aClockThatIsWrongIsNotGoneBy(seconds: Int64) {
        let clock = ManualTimeSource(start)
        let time = ServerTime(clock: clock, count: { 0 })
        #expect(time.follow(start + .seconds(seconds), readWithin: .zero))
        #expect(time.now == start + .seconds(seconds))
        #expect(time.difference == .seconds(seconds))
        #expect(!time.follow(start + .seconds(seconds) + .milliseconds(900), readWithin: .zero), "it goes on steadily")
        #expect(time.now == start + .seconds(seconds))
    }

    @Test func aClockThatIsRightToTheSecondIsGoneBy() {
        let time = ServerTime(clock: ManualTimeSource(start), count: { 0 })
        #expect(!time.follow(start + .milliseconds(900), readWithin: .zero))
        #expect(!time.follow(start + .milliseconds(-900), readWithin: .zero))
        #expect(!time.follow(start + .seconds(-4), readWithin: .seconds(8)), "an answer that took long says little")
        #expect(time.now == start)
    }

    @Test func aClockThatWasCorrectedIsGoneByAgain() {
        let clock = ManualTimeSource(start)
        let time = ServerTime(clock: clock, count: { 0 })
        #expect(time.follow(start + .seconds(3600), readWithin: .zero))
        clock.advance(by: .seconds(3600))
        #expect(time.follow(start + .seconds(3600), readWithin: .zero))
        #expect(time.now == start + .seconds(3600))
        #expect(time.difference == .zero)
    }

    @Test("A clock that is set changes nothing until it is compared", arguments: [0, 86_400] as [Int64])
    func aClockThatIsSetChangesNothing(wrong: Int64) {
        let clock = ManualTimeSource(start + .seconds(wrong))
        let counted = Atomic<Int64>(5000)
        let time = ServerTime(clock: clock, count: { counted.load(ordering: .relaxed) })
        #expect(time.follow(start, readWithin: .zero) == (wrong != 0))
        for step in [-86_400, 86_400, 86_400] as [Int64] {
            clock.advance(by: .seconds(step))
            counted.add(900, ordering: .relaxed)
            #expect(time.now == start + .milliseconds(counted.load(ordering: .relaxed) - 5000))
        }
        #expect(time.follow(start + .milliseconds(2700), readWithin: .zero))
        #expect(time.now == start + .milliseconds(2700))
        #expect(time.difference == .milliseconds(2700) - .seconds(wrong + 86_400))
    }

    @Test func aClockThatIsSetIsNotGoneByAlthoughTheAnswerTookLong() {
        let clock = ManualTimeSource(start)
        let time = ServerTime(clock: clock, count: { 0 })
        #expect(!time.follow(start, readWithin: .zero))
        clock.advance(by: .seconds(3600))
        #expect(time.follow(start, readWithin: .seconds(4)))
        #expect(time.now == start)
        #expect(time.difference == .seconds(-3600))
    }

    @Test func anAnswerThatTookLongDoesNotMakeAWrongClockRight() {
        let time = ServerTime(clock: ManualTimeSource(start), count: { 0 })
        #expect(time.follow(start + .seconds(-3), readWithin: .zero))
        #expect(!time.follow(start + .seconds(-3), readWithin: .seconds(4)))
        #expect(!time.follow(start + .milliseconds(-2100), readWithin: .zero), "the clocks drift by less than a second")
        #expect(time.difference == .seconds(-3))
    }

    @Test("A sleep ends when the clock is set back, although nothing else happens", .timeLimit(.minutes(1)))
    func aSleepEndsWhenTheClockIsSetBack() async throws {
        let clock = ManualTimeSource(start)
        let time = ServerTime(clock: clock, count: { 0 })
        // The sleep may begin after the first of these steps.
        let steps = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(-60))
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        try await time.sleep(until: start + .seconds(3600))
        steps.cancel()
    }

    @Test func theHalfOfTheTimeThatAnAnswerTookIsItsAge() {
        let time = ServerTime(clock: ManualTimeSource(start), count: { 0 })
        #expect(time.follow(start + .seconds(99), readWithin: .seconds(2)))
        #expect(time.now == start + .seconds(100))
    }
}
