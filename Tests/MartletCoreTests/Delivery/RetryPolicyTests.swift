import MartletModel
import Testing

@testable import MartletCore

struct RetryPolicyTests {
    private let policy = RetryPolicy(ceiling: .seconds(60), jitter: 1)
    private let now = Timestamp(seconds: 1000)

    @Test(arguments: [(1, 2), (2, 4), (3, 8), (5, 32), (6, 60), (100, 60)])
    func theWaitDoublesUpToItsCeiling(attempts: Int, seconds: Int64) {
        let due = policy.next(
            after: .seconds(2), attempts: attempts, now: now, expiresAt: .distantFuture, chance: 0)
        #expect(due == Timestamp(seconds: 1000 + seconds))
    }

    @Test func aServiceThatRequestsNoWaitIsRetriedLaterEachTime() {
        let dues = [1, 2, 5].map {
            policy.next(after: .zero, attempts: $0, now: now, expiresAt: .distantFuture, chance: 0)
        }
        #expect(dues == [1001, 1002, 1016].map { Timestamp(seconds: $0) })
    }

    @Test func chanceAddsUpToAsMuchAgainAndNeverTakesAway() {
        let due = policy.next(after: .seconds(2), attempts: 2, now: now, expiresAt: .distantFuture, chance: 0.5)
        #expect(due == Timestamp(seconds: 1006))
    }

    @Test func aWaitThatTheServiceAskedForIsKeptEvenAboveTheCeiling() {
        let due = policy.next(after: .seconds(900), attempts: 1, now: now, expiresAt: .distantFuture, chance: 0)
        #expect(due == Timestamp(seconds: 1900))
    }

    @Test func nothingIsTriedAgainOnceTheMessageHasExpired() {
        let due = policy.next(
            after: .seconds(10), attempts: 1, now: now, expiresAt: Timestamp(seconds: 1010), chance: 0)
        #expect(due == nil)
    }
}
