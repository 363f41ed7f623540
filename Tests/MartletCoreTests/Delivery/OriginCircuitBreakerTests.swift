import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct OriginCircuitBreakerTests {
    private static let duration = Duration.seconds(30)
    private let now = Timestamp(seconds: 1000)

    private func enter(
        _ breaker: inout OriginCircuitBreaker, areFailing: Bool = false, at timestamp: Timestamp
    ) -> OriginCircuitBreaker.Entry {
        breaker.enter(areFailing: areFailing, at: timestamp, probeDuration: Self.duration)
    }

    @Test func aFailingDeviceNeitherTakesTheProbeNorLengthensThePause() {
        var breaker = OriginCircuitBreaker()
        #expect(enter(&breaker, areFailing: true, at: now) == .free)
        breaker.pause(after: .ordinary, at: now)
        let end = now + .seconds(5)
        #expect(enter(&breaker, areFailing: true, at: now) == .paused(until: end))
        #expect(enter(&breaker, areFailing: true, at: end) == .probe)
        #expect(enter(&breaker, areFailing: true, at: end) == .probed(until: end + Self.duration))
        breaker.end(.trial, at: end + .seconds(1))
        #expect(enter(&breaker, areFailing: true, at: end + .seconds(1)) == .paused(until: end + .seconds(11)))
        #expect(enter(&breaker, at: end + .seconds(1)) == .probe, "a device that works tests the origin")
        #expect(breaker.probeEnd(at: end + .seconds(2)) == end + .seconds(31))
        breaker.pause(after: .probe, at: end + .seconds(2))
        #expect(breaker.probeEnd(at: end + .seconds(2)) == nil)
        #expect(enter(&breaker, at: end + .seconds(2)) == .paused(until: end + .seconds(12)))
        breaker.close()
        #expect(enter(&breaker, areFailing: true, at: end + .seconds(2)) == .free)
    }

    @Test func pausesOfFailingDevicesDoubleUpToAMinute() {
        var breaker = OriginCircuitBreaker()
        breaker.pause(after: .ordinary, at: now)
        var (timestamp, lengths) = (now + .seconds(5), [Int64]())
        for _ in 0..<6 {
            #expect(enter(&breaker, areFailing: true, at: timestamp) == .probe)
            breaker.end(.trial, at: timestamp)
            guard case .paused(let until) = enter(&breaker, areFailing: true, at: timestamp) else {
                Issue.record("no pause has begun")
                return
            }
            lengths.append((until - timestamp).components.seconds)
            timestamp = until
        }
        #expect(lengths == [10, 20, 40, 60, 60, 60])
    }

    @Test(arguments: UInt64(0)..<50)
    func oneProbeAndOneTrialAtATimeAndNobodyIsLockedOut(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var breaker = OriginCircuitBreaker()
        var now = now
        /// When the probe and the trial in progress began.
        var tests: [OriginCircuitBreaker.Role: Timestamp] = [:]
        for step in 0..<500 {
            let comment: Comment = "seed \(seed), step \(step)"
            let role = Bool.random(using: &random) ? OriginCircuitBreaker.Role.probe : .trial
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: now = now + .seconds(Int64.random(in: 0..<60, using: &random))
            case 2: breaker.pause(after: .ordinary, at: now)
            case 3 where tests[role] != nil:
                // The pause begins for the probe too.
                breaker.pause(after: role, at: now)
                breaker.end(role, at: now)
                (tests[role], tests[.probe]) = (nil, nil)
            case 4 where tests[role] != nil:
                breaker.end(role, at: now)
                tests[role] = nil
            case 5 where tests[role] != nil:
                breaker.close()
                breaker.end(role, at: now)
                tests = [:]
                #expect(breaker.isClosed, comment)
            default:
                switch enter(&breaker, areFailing: role == .trial, at: now) {
                case .free: #expect(breaker.isClosed, comment)
                case .probe:
                    #expect(tests[role].map { $0 + Self.duration <= now } ?? true, "another one: \(comment)")
                    tests[role] = now
                case .paused(let until), .probed(let until):
                    #expect(until > now && until <= now + .seconds(900), comment)
                    var later = breaker
                    let last = ([until] + tests.values.map { $0 + Self.duration }).max() ?? until
                    #expect(enter(&later, areFailing: role == .trial, at: last + .seconds(60)) == .probe, comment)
                }
            }
        }
    }
}
