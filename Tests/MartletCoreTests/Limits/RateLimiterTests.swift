import MartletModel
import Testing

@testable import MartletCore

struct RateLimiterTests {
    private let start = Timestamp(seconds: 1_700_000_000)
    private let rate = RequestRate(perSecond: 4, burst: 8)

    @Test func aBurstPassesAndThenItGoesEvenly() {
        let limiter = RateLimiter<String>(countLimit: 10)
        for _ in 0..<8 { #expect(limiter.take("a", at: rate, now: start) == nil) }
        #expect(limiter.take("a", at: rate, now: start) == .milliseconds(250))
        #expect(limiter.take("a", at: rate, now: start + .milliseconds(249)) == .milliseconds(1))
        #expect(limiter.take("a", at: rate, now: start + .milliseconds(250)) == nil)
        #expect(limiter.take("a", at: rate, now: start + .milliseconds(250)) != nil)
        for second in 1...50 {
            let passed = (0..<10).filter { _ in limiter.take("a", at: rate, now: start + .seconds(second)) == nil }
            #expect(passed.count == (second == 1 ? 3 : 4))
        }
    }

    @Test func oneKeyTakesNothingOfAnother() {
        let limiter = RateLimiter<String>(countLimit: 10)
        while limiter.take("a", at: rate, now: start) == nil {}
        #expect(limiter.take("b", at: rate, now: start) == nil)
    }

    @Test func aRestFillsTheBucketAndNoMore() {
        let limiter = RateLimiter<String>(countLimit: 10)
        while limiter.take("a", at: rate, now: start) == nil {}
        let later = start + .seconds(3600)
        #expect((0..<20).filter { _ in limiter.take("a", at: rate, now: later) == nil }.count == 8)
    }

    @Test func aClockThatIsSetBackKeepsNobodyOutForLong() {
        let limiter = RateLimiter<String>(countLimit: 10)
        while limiter.take("a", at: rate, now: start) == nil {}
        let earlier = start + .seconds(-86_400)
        #expect(limiter.take("a", at: rate, now: earlier) == .milliseconds(250))
        #expect(limiter.take("a", at: rate, now: earlier + .milliseconds(250)) == nil)
    }

    @Test func aClockThatIsSetBackEmptiesNoBucket() {
        let limiter = RateLimiter<String>(countLimit: 10)
        #expect(limiter.take("a", at: rate, now: start) == nil)
        let earlier = start + .seconds(-1)
        #expect((0..<20).filter { _ in limiter.take("a", at: rate, now: earlier) == nil }.count == 7)
    }

    @Test func theMemoryIsBoundedAndWhoIsBusyIsRememberedBest() {
        let limiter = RateLimiter<Int>(countLimit: 100)
        while limiter.take(0, at: rate, now: start) == nil {}
        for key in 1...10_000 {
            #expect(limiter.take(key, at: rate, now: start) == nil)
            #expect(limiter.count <= 100)
        }
        #expect(limiter.take(0, at: rate, now: start) != nil)
    }

    @Test(arguments: [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)])
    func secondsToWaitAreRoundedUp(milliseconds: Int, seconds: Int) {
        #expect(Duration.milliseconds(milliseconds).retryAfterSeconds == seconds)
    }
}
