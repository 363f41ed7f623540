import MartletModel
import Testing

@testable import MartletCore

struct CircuitBreakerTests {
    private let now = Timestamp(seconds: 1000)

    @Test func aPauseIsOverWhereTheClockIsSetBack() {
        var breaker = CircuitBreaker(.lane)
        _ = breaker.pause(atLeast: .seconds(600), isProbe: false, at: now)
        let before = now + .seconds(-86_400)
        #expect(
            breaker.enter(at: now + .seconds(-1), probeDuration: .seconds(30)) == .paused(until: now + .seconds(600)))
        #expect(breaker.enter(at: before, probeDuration: .seconds(30)) == .probe)
        #expect(breaker.enter(at: before, probeDuration: .seconds(30)) == .paused(until: before + .seconds(1)))
        #expect(breaker.pause(isProbe: true, at: before) == before + .seconds(2))
    }

    @Test func pausesDoubleUntilItCloses() {
        var breaker = CircuitBreaker(.lane)
        let lengths = (0..<8).map { _ in (breaker.pause(isProbe: true, at: now) - now).components.seconds }
        #expect(lengths == [1, 2, 4, 8, 16, 32, 60, 60])
        breaker.close()
        #expect(breaker.isClosed)
        #expect(breaker.pause(isProbe: false, at: now) == now + .seconds(1))
    }

    @Test func pushesAdmittedBeforeAPauseDoNotLengthenTheNext() {
        var breaker = CircuitBreaker(.lane)
        for _ in 0..<10 { #expect(breaker.pause(isProbe: false, at: now) == now + .seconds(1)) }
        let later = now + .seconds(1)
        #expect(breaker.enter(at: later, probeDuration: .seconds(30)) == .probe)
        #expect(breaker.pause(atLeast: .seconds(5), isProbe: false, at: later) == later + .seconds(5), "asked for")
        #expect(breaker.enter(at: later + .seconds(5), probeDuration: .seconds(30)) != .free)
        #expect(breaker.pause(isProbe: true, at: later + .seconds(5)) == later + .seconds(7))
        var origin = CircuitBreaker(.origin)
        for _ in 0..<20 { origin.fail(5, isProbe: false, at: now) }
        #expect(origin.pausedUntil == now + .seconds(5))
    }

    @Test func afterAPauseOneProbeIsLetInAndTheOthersWaitForIt() {
        var breaker = CircuitBreaker(.lane)
        #expect(breaker.enter(at: now, probeDuration: .seconds(30)) == .free)
        let until = breaker.pause(isProbe: false, at: now)
        #expect(breaker.enter(at: now, probeDuration: .seconds(30)) == .paused(until: until))
        #expect(breaker.enter(at: until, probeDuration: .seconds(30)) == .probe)
        #expect(
            breaker.enter(at: until, probeDuration: .seconds(30)) == .paused(until: until + .seconds(1)),
            "to look whether it is over")
        breaker.endProbe()
        #expect(breaker.enter(at: until, probeDuration: .seconds(30)) == .probe, "one that showed nothing")
        let later = until + .seconds(30)
        #expect(breaker.enter(at: later, probeDuration: .seconds(30)) == .probe, "one that never ended")
        breaker.close()
        #expect(breaker.enter(at: until, probeDuration: .seconds(30)) == .free)
    }

    @Test func aPauseIsNoShorterThanWhatWasAskedForAndNeverCutsAnother() {
        var breaker = CircuitBreaker(.lane)
        #expect(breaker.pause(atLeast: .seconds(300), isProbe: false, at: now) == now + .seconds(300))
        #expect(breaker.pause(isProbe: true, at: now) == now + .seconds(300))
    }

    @Test func aDeviceIsPausedAfterThreeFailuresInARowAndAfterOneThatWasAProbe() {
        var breaker = CircuitBreaker(.device)
        breaker.fail(isProbe: false, at: now)
        breaker.fail(isProbe: false, at: now)
        #expect(breaker.isClosed)
        breaker.close()
        breaker.fail(2, isProbe: false, at: now)
        #expect(breaker.isClosed, "an answer between them")
        breaker.fail(isProbe: false, at: now)
        #expect(breaker.pausedUntil == now + .seconds(1))
        let until = now + .seconds(1)
        #expect(breaker.enter(at: until, probeDuration: .seconds(30)) == .probe)
        breaker.fail(isProbe: true, at: until)
        #expect(breaker.pausedUntil == until + .seconds(2))
        breaker.allowProbe()
        #expect(!breaker.isClosed)
        #expect(breaker.enter(at: until, probeDuration: .seconds(30)) == .probe)
        breaker.fail(isProbe: true, at: until)
        #expect(breaker.pausedUntil == until + .seconds(2), "pauses begin from the shortest")
    }

    @Test(arguments: UInt64(0)..<50)
    func onlyOneProbeIsSentAndNoLaneIsLockedOutForever(seed: UInt64) {
        var chance = Chance(seed: seed)
        let terms = [CircuitBreaker.Terms.lane, .origin, .device][Int(seed % 3)]
        let (duration, longest) = (Duration.seconds(30), terms.longestPause)
        var breaker = CircuitBreaker(terms)
        var now = now
        var probe: Timestamp?
        for step in 0..<500 {
            let timestamp: Comment = "seed \(seed), step \(step)"
            switch chance.below(7) {
            case 0, 1: now = now + .seconds(chance.below(40))
            case 2:
                let wasClosed = breaker.isClosed
                breaker.fail(isProbe: probe != nil, at: now)
                #expect(wasClosed || probe == nil || (breaker.pausedUntil.map { $0 > now } ?? false), timestamp)
                if !wasClosed { probe = nil }
            case 3 where probe != nil:
                breaker.close()
                probe = nil
            case 4 where probe != nil:
                breaker.endProbe()
                probe = nil
            default:
                switch breaker.enter(at: now, probeDuration: duration) {
                case .free: #expect(breaker.isClosed, timestamp)
                case .probe:
                    #expect(!breaker.isClosed, timestamp)
                    #expect(probe.map { $0 + duration <= now } ?? true, "another one is under way: \(timestamp)")
                    probe = now
                case .paused(let until):
                    #expect(until > now && until <= now + longest, timestamp)
                    var later = breaker
                    let last = max(until, probe.map { $0 + duration } ?? until)
                    #expect(later.enter(at: last, probeDuration: duration) == .probe, timestamp)
                }
            }
        }
    }
}

/// Chance that repeats itself.
private struct Chance {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
