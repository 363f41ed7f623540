import MartletModel
import Testing

@testable import MartletCore

struct DeletionGuardTests {
    private let now = Timestamp(seconds: 10_000)

    private func gone(_ channels: ClosedRange<Int64>) -> [ChannelFeedback] {
        channels.map { ChannelFeedback(channel: ChannelID(rawValue: $0), kind: .gone(asOf: nil)) }
    }

    /// Pushes of which so many succeeded, and whose devices with these numbers were called dead.
    private func health(
        _ successes: Int, dead: ClosedRange<Int64>? = nil, doubtful: ClosedRange<Int64>? = nil
    ) -> PageHealth {
        let (dead, doubtful) = (dead.map(gone) ?? [], doubtful.map(gone) ?? [])
        return PageHealth(
            successes: successes, fatal: dead.count + doubtful.count, dead: dead, doubtful: doubtful)
    }

    @Test func withoutASuccessWhatMayBeAWrongConfigurationIsNotBelieved() {
        var deletions = DeletionGuard()
        #expect(deletions.record(health(0, doubtful: 1...1), at: now) == [])
        #expect(!deletions.isQuarantined, "one device is no alarm")
    }

    @Test func whereTheClockIsSetBackTheWindowGoesOnSliding() {
        var found = DeletionGuard()
        _ = found.record(health(0, doubtful: 1...100), at: Timestamp(seconds: 100_000))
        for minute in 0..<10 { _ = found.record(health(1), at: Timestamp(seconds: 1000 + Int64(minute) * 60)) }
        #expect(!found.isQuarantined)
    }

    @Test func aLaterSuccessProvesWhatWasDoubted() {
        var deletions = DeletionGuard()
        _ = deletions.record(health(0, doubtful: 1...2), at: now)
        let believed = (1...2).map { ChannelFeedback(channel: ChannelID(rawValue: $0), kind: .gone(asOf: now)) }
        #expect(deletions.record(health(2), at: now + .seconds(599)) == believed, "unless they have registered since")
        #expect(deletions.record(health(1), at: now + .seconds(599)) == [], "once")
    }

    @Test func aSuccessThatComesTooLateProvesNothing() {
        var deletions = DeletionGuard()
        _ = deletions.record(health(0, doubtful: 1...1), at: now)
        #expect(deletions.record(health(5), at: now + .seconds(601)) == [])
    }

    @Test func unambiguousAnswersRemoveADeviceAtOnceUnlessThereAreMany() {
        let many = Int64(DeletionGuard.enoughAnswers)
        var deletions = DeletionGuard()
        #expect(deletions.record(health(0, dead: 1...many), at: now).count == Int(many))
        #expect(deletions.record(health(0, dead: 100...100), at: now) == [])
        #expect(deletions.isQuarantined)
    }

    @Test func aMassOfDeadHandlesDeletesNothingNorDoesItsEnd() {
        var deletions = DeletionGuard()
        _ = deletions.record(health(0, doubtful: 1...5), at: now)
        #expect(deletions.record(health(100, dead: 6...60, doubtful: 61...120), at: now) == [])
        #expect(deletions.isQuarantined)
        #expect(deletions.record(health(100), at: now) == [], "those may all be healthy")
        #expect(!deletions.isQuarantined)
        #expect(deletions.record(health(0, doubtful: 7...7), at: now) == gone(7...7), "who is gone is called so again")
    }

    @Test func aQuarantineOutlastsItsWindowAndTheProcessUntilThereIsAProof() {
        for var deletions in [DeletionGuard(isQuarantined: true), Self.quarantined(at: now)] {
            let later = now + .seconds(86_400)
            #expect(deletions.record(health(0, dead: 1...1, doubtful: 2...2), at: later) == [])
            #expect(deletions.isQuarantined)
            #expect(deletions.record(health(3, dead: 3...3), at: later) == gone(3...3))
            #expect(!deletions.isQuarantined)
        }
    }

    @Test func anotherCredentialIsProvenAnew() {
        var deletions = DeletionGuard()
        _ = deletions.record(health(50, doubtful: 1...1), at: now)
        _ = deletions.record(health(0, doubtful: 2...2), at: now)
        deletions.reset()
        #expect(deletions.record(health(0, doubtful: 3...3), at: now) == [])
        var quarantined = Self.quarantined(at: now)
        quarantined.reset()
        #expect(quarantined.isQuarantined)
    }

    @Test func theNumberOfRememberedEntriesIsLimited() {
        var deletions = DeletionGuard()
        for number in 1...Int64(DeletionGuard.suspectLimit + 10) {
            let timestamp = now + .seconds(number * 31)
            _ = deletions.record(health(0, doubtful: number...number), at: timestamp)
        }
        #expect(!deletions.isQuarantined, "so rarely that it never is a mass")
        let end = now + .seconds(Int64(DeletionGuard.suspectLimit + 10) * 31)
        #expect(deletions.record(health(100), at: end).count <= 20)
    }

    private static func quarantined(at now: Timestamp) -> DeletionGuard {
        var deletions = DeletionGuard()
        let dead = (1...100).map { ChannelFeedback(channel: ChannelID(rawValue: $0), kind: .gone(asOf: nil)) }
        _ = deletions.record(PageHealth(fatal: 100, doubtful: dead), at: now)
        return deletions
    }
}
