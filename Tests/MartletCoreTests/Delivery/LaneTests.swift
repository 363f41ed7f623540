import MartletModel
import Testing

@testable import MartletCore

struct LaneTests {
    private let now = Timestamp(seconds: 1000)

    @Test func pausesDoubleUntilALaneOpens() {
        var lane = Lane()
        let lengths = (0..<8).map { _ in (lane.pause(at: now) - now).components.seconds }
        #expect(lengths == [1, 2, 4, 8, 16, 32, 60, 60])
        lane.open()
        #expect(lane.isOpen)
        #expect(lane.pause(at: now) == now + .seconds(1))
    }

    @Test func afterAPauseOneProbeIsLetInAndTheOthersWaitForIt() {
        var lane = Lane()
        #expect(lane.enter(at: now, probeDuration: .seconds(30)) == .open)
        let until = lane.pause(at: now)
        #expect(lane.enter(at: now, probeDuration: .seconds(30)) == .paused(until: until))
        #expect(lane.enter(at: until, probeDuration: .seconds(30)) == .probe)
        #expect(lane.enter(at: until, probeDuration: .seconds(30)) == .paused(until: until + .seconds(30)))
        lane.endProbe()
        #expect(lane.enter(at: until, probeDuration: .seconds(30)) == .probe, "one that showed nothing")
        #expect(lane.enter(at: until + .seconds(30), probeDuration: .seconds(30)) == .probe, "one that never ended")
        lane.open()
        #expect(lane.enter(at: until, probeDuration: .seconds(30)) == .open)
    }

    @Test func aPauseIsNoShorterThanWhatWasAskedForAndNeverCutsAnother() {
        var lane = Lane()
        #expect(lane.pause(atLeast: .seconds(300), at: now) == now + .seconds(300))
        #expect(lane.pause(at: now) == now + .seconds(300))
    }

    @Test func aPageThatWasUnderWayDoesNotEndAPause() {
        let board = LaneBoard()
        let id = LaneID(hub: Hub.ID(rawValue: 1), platform: PlatformID(rawValue: "pigeon"))
        func note(isProbe: Bool, _ add: (inout PageTally) -> Void) {
            var tally = PageTally(
                platform: nil, policy: RetryPolicy(), now: now, expiresAt: now + .seconds(600), areRetries: false)
            add(&tally)
            let lane = ReadyLane(id, nil, .refused(Outcome(.unknownError, .refuse)), isProbe: isProbe)
            _ = board.note(tally, lane, isCurrent: true, at: now)
        }
        let addressee = PageTally.Addressee(
            member: AudienceMember(channel: ChannelID(rawValue: 1)), handle: nil, attempts: 1)
        note(isProbe: false) {
            $0.add(Outcome(.throttled, .retry(after: .seconds(30), scope: .platform)), to: addressee, chance: 0)
        }
        note(isProbe: false) { $0.addSuccesses(1) }
        #expect(board.enter(id, at: now, probeDuration: .seconds(30)) == .paused(until: now + .seconds(30)))
        note(isProbe: true) { $0.addSuccesses(1) }
        #expect(board.isOpen(id))
    }
}
