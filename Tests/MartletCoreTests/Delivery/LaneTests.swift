import MartletModel
import Testing

@testable import MartletCore

struct LaneTests {
    private let now = Timestamp(seconds: 1000)

    private let board = LaneCircuitBreakers()
    private let id = LaneID(hub: Hub.ID(rawValue: 1), platform: PlatformID(rawValue: "pigeon"))
    private let addressee = PageTally.Addressee(
        member: AudienceMember(channel: ChannelID(rawValue: 1)), handle: nil, attemptsBefore: 0)

    private func record(isProbe: Bool, _ add: (inout PageTally) -> Void) {
        var tally = PageTally(
            platform: nil, policy: RetryPolicy(), now: now, expiresAt: now + .seconds(600), areRetries: false)
        add(&tally)
        let lane = SendContext(id, nil, .refused(Outcome(.unknownError, .refuse)), isProbe: isProbe)
        _ = board.record(tally.lane, lane, isCurrent: true, at: now)
    }

    @Test func aLaneIsToldToHaveARefusedCredentialUntilItOpens() {
        record(isProbe: false) { $0.add(Outcome(.invalidCredentials, .stop), to: addressee, chance: 0) }
        #expect(!board.isOpen(id) && board.refusedCredentials == [id])
        board.open(id.hub)
        #expect(board.isOpen(id) && board.refusedCredentials == [])
        record(isProbe: false) {
            $0.add(Outcome(.throttled, .retry(after: .seconds(30), scope: .platform)), to: addressee, chance: 0)
        }
        #expect(!board.isOpen(id) && board.refusedCredentials == [])
    }

    @Test func aPageThatWasUnderWayDoesNotEndAPause() {
        record(isProbe: false) {
            $0.add(Outcome(.throttled, .retry(after: .seconds(30), scope: .platform)), to: addressee, chance: 0)
        }
        record(isProbe: false) { $0.addSuccesses(1) }
        #expect(board.enter(id, at: now, probeDuration: .seconds(30)) == .paused(until: now + .seconds(30)))
        record(isProbe: true) { $0.addSuccesses(1) }
        #expect(board.isOpen(id))
    }
}
