import MartletModel
import Testing

@testable import MartletCore

struct DeletionGuardTests {
    private let now = Timestamp(seconds: 10_000)

    @Test func aFewDeadHandlesAreBelieved() {
        var deletions = DeletionGuard()
        deletions.note(successes: 0, fatal: DeletionGuard.enoughAnswers, at: now)
        #expect(deletions.allowsDeletion(at: now))
    }

    @Test func manyDeadHandlesWithoutASuccessAreNotBelieved() {
        var deletions = DeletionGuard()
        deletions.note(successes: 0, fatal: DeletionGuard.enoughAnswers + 1, at: now)
        #expect(!deletions.allowsDeletion(at: now))
    }

    @Test func moreThanHalfDeadIsNotBelieved() {
        var deletions = DeletionGuard()
        deletions.note(successes: 100, fatal: 101, at: now)
        #expect(!deletions.allowsDeletion(at: now))
        deletions.note(successes: 1, fatal: 0, at: now)
        #expect(deletions.allowsDeletion(at: now))
    }

    @Test func whereTheClockIsSetBackTheWindowGoesOnSliding() {
        var found = DeletionGuard()
        found.note(successes: 0, fatal: 100, at: Timestamp(seconds: 100_000))
        for minute in 0..<10 { found.note(successes: 1, fatal: 0, at: Timestamp(seconds: 1000 + Int64(minute) * 60)) }
        #expect(found.allowsDeletion(at: Timestamp(seconds: 1600)))
    }

    @Test func whatIsLongPastDoesNotCount() {
        var deletions = DeletionGuard()
        deletions.note(successes: 0, fatal: 1000, at: now)
        #expect(deletions.allowsDeletion(at: now + .seconds(601)))
    }
}
