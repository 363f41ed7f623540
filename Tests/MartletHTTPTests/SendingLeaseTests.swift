import MartletHTTP
import Synchronization
import Testing

struct SendingLeaseTests {
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock(\.self) }

        func advance(by duration: Duration) {
            time.withLock { $0 += duration }
        }
    }

    @Test func aLeaseHasEndedUntilItIsExtendedAndFromItsEndOn() {
        let clock = Clock()
        let lease = SendingLease { clock.now }
        #expect(lease.hasEnded)
        #expect(lease.extend(until: clock.now + .seconds(8)), "it had ended")
        clock.advance(by: .milliseconds(7999))
        #expect(!lease.hasEnded)
        #expect(!lease.extend(until: clock.now + .seconds(8)), "nobody found that it has ended")
        clock.advance(by: .seconds(8))
        #expect(lease.hasEnded)
        lease.extend(until: clock.now + .seconds(8))
        #expect(!lease.hasEnded)
        lease.revoke()
        #expect(lease.hasEnded)
    }

    @Test func aSignalThatWasFoundSetStaysSetWhenTheLeaseIsExtended() {
        let clock = Clock()
        let lease = SendingLease { clock.now }
        lease.extend(until: clock.now + .seconds(8))
        let (found, unseen) = (StopSignal(lease: lease), StopSignal(lease: lease))
        let stops = Mutex(0)
        _ = found.onStop { stops.withLock { $0 += 1 } }
        #expect(!found.isStopped)
        clock.advance(by: .seconds(8))
        #expect(found.isStopped)
        #expect(stops.withLock(\.self) == 1)
        lease.extend(until: clock.now + .seconds(8))
        #expect(found.isStopped)
        #expect(!unseen.isStopped, "nothing was held back because of it")
        #expect(stops.withLock(\.self) == 1)
    }

    @Test func anActionThatComesAfterTheEndOfTheLeaseRunsAtOnce() {
        let signal = StopSignal(lease: SendingLease())
        let stops = Mutex(0)
        _ = signal.onStop { stops.withLock { $0 += 1 } }
        #expect(stops.withLock(\.self) == 1)
    }
}
