import MartletTesting
import Testing

@testable import MartletNetwork

/// Random events against what must hold of a connection's stream limit and liveness whatever happens.
@Suite struct HTTP2LimitModelTests {
    @Test(arguments: UInt64(0)..<50)
    func aStreamLimitIsNeverPassedAndAlwaysRecovers(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var limit = HTTP2StreamLimit(ceiling: 100)
        var now = ContinuousClock.now
        var announced = 1
        var open = 0
        for step in 0..<500 {
            switch chance.below(8) {
            case 0:
                announced = chance.one(of: [0, 1, 1, 5, 50, 1000])
                limit.announce(UInt32(announced))
            case 1 where open > 0:
                open -= 1
                limit.refused(open: open, at: now)
            case 2, 3:
                let count = chance.below(open + 1)
                open -= count
                if count > 0 { limit.answered(count) }
            case 4:
                now += .milliseconds(chance.below(3000))
                limit.expire(at: now)
                #expect(limit.pausedUntil.map { $0 > now } ?? true, "seed \(seed), step \(step)")
            default:
                let capacity = limit.capacity(open: open, at: now)
                #expect(capacity == 0 || open + capacity <= min(announced, 100), "seed \(seed), step \(step)")
                open += chance.below(capacity + 1)
            }
        }
        limit.announce(60)
        now += .seconds(5)
        limit.expire(at: now)
        #expect(limit.capacity(open: 0, at: now) > 0, "seed \(seed): a single one is always tried again")
        for _ in 0..<100 { limit.answered() }
        #expect(limit.current == 60, "seed \(seed): it recovers")
    }

    @Test(arguments: UInt64(0)..<50)
    func aPeerIsGivenUpOnlyAfterAPingAndAlwaysInTime(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var now = ContinuousClock.now
        var liveness = HTTP2Liveness(now: now)
        var lastHeard = now
        var asked: ContinuousClock.Instant?
        for step in 0..<500 {
            let isBusy = chance.below(4) > 0
            if isBusy, chance.below(3) == 0, asked == nil {
                liveness.becameBusy(at: now)
                lastHeard = now
            }
            let due = liveness.deadline(isBusy: isBusy)
            now += .milliseconds(chance.below(6000))
            if chance.below(4) == 0, now < due {
                liveness.heard(at: now)
                (lastHeard, asked) = (now, nil)
                continue
            }
            switch liveness.expire(at: now, isBusy: isBusy) {
            case .none: #expect(now < due, "seed \(seed), step \(step)")
            case .ping:
                #expect(asked == nil && now - lastHeard >= HTTP2Liveness.silenceWhenBusy, "seed \(seed), step \(step)")
                asked = now
            case .giveUp:
                let wait = asked.map { now - $0 } ?? .zero
                #expect(wait >= HTTP2Liveness.answerTime, "seed \(seed), step \(step)")
                liveness = HTTP2Liveness(now: now)
                (lastHeard, asked) = (now, nil)
            }
            #expect(liveness.deadline(isBusy: isBusy) > now, "seed \(seed), step \(step): it would be asked at once")
        }
    }
}
