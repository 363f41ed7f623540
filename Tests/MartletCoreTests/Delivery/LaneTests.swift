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
        #expect(lane.isPaused(at: now) == nil)
        #expect(lane.pause(at: now) == now + .seconds(1))
    }

    @Test func aPauseIsNoShorterThanWhatWasAskedForAndNeverCutsAnother() {
        var lane = Lane()
        #expect(lane.pause(atLeast: .seconds(300), at: now) == now + .seconds(300))
        #expect(lane.pause(at: now) == now + .seconds(300))
    }
}
