import MartletModel
import Testing

@testable import MartletACME

struct ACMEScheduleTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func wait(_ schedule: ACMESchedule, renewal: Timestamp? = nil, isContinued: Bool = false) -> Duration {
        schedule.next(renewal: renewal, isContinued: isContinued, now: now) - now
    }

    @Test func aCertificateIsRenewedAtTwoThirdsOfItsLifeWithinAnHour() {
        let ends = now + .seconds(90 * 86_400)
        let due = now + .seconds(60 * 86_400)
        #expect(ACMESchedule.renewal(begins: now, ends: ends, random: 0) == due)
        #expect(ACMESchedule.renewal(begins: now, ends: ends, random: 0.5) == due + .seconds(1800))
        #expect(ACMESchedule.renewal(begins: now, ends: now + .seconds(60), random: 0.5) - now == .milliseconds(42_500))
        #expect(ACMESchedule.renewal(begins: ends, ends: now, random: 0.5) < now + .seconds(60 * 86_400))
    }

    @Test func failuresWaitFromAMinuteToHalfADay() {
        var schedule = ACMESchedule()
        #expect(wait(schedule) == .zero)
        var waits: [Int64] = []
        for _ in 0..<12 {
            schedule.failed(at: now, retryAfter: nil)
            waits.append(wait(schedule).components.seconds / 60)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 720, 720])
        schedule.succeeded()
        #expect(wait(schedule) == .zero)
    }

    @Test func theAuthoritysWaitIsKeptOverARestart() {
        var schedule = ACMESchedule()
        schedule.failed(at: now, retryAfter: .seconds(7200))
        #expect(wait(schedule) == .seconds(7200))
        schedule = ACMESchedule(orders: schedule.orders, askedWait: schedule.askedWait)
        #expect(wait(schedule, isContinued: true) == .seconds(7200))
    }

    @Test func anUnreasonableWaitOfTheAuthorityIsCutToADay() {
        var schedule = ACMESchedule()
        schedule.failed(at: now, retryAfter: .seconds(28 * 86_400))
        #expect(wait(schedule) == .seconds(86_400))
        schedule.failed(at: now, retryAfter: .seconds(7200), ends: now + .seconds(90 * 86_400))
        #expect(wait(schedule) == .seconds(7200))
    }

    @Test func aWaitOfTheAuthorityLeavesTimeToRenew() {
        var schedule = ACMESchedule()
        schedule.failed(at: now, retryAfter: .seconds(28 * 86_400), ends: now + .seconds(36_000))
        #expect(wait(schedule) == .seconds(12_000))
        schedule.failed(at: now, retryAfter: .seconds(28 * 86_400), ends: now + .seconds(30))
        #expect(wait(schedule) == .seconds(120), "at least the ordinary wait")
        schedule.failed(at: now, retryAfter: .seconds(28 * 86_400), ends: now + .seconds(-86_400))
        #expect(wait(schedule) == .seconds(240))
    }

    @Test func aWaitThatAnEarlierProcessRecordedIsCutToo() {
        var schedule = ACMESchedule(askedWait: now + .seconds(28 * 86_400))
        schedule.resumed(at: now)
        #expect(wait(schedule) == .seconds(86_400))
    }

    @Test func fiveOrdersADayAreTheMost() {
        var schedule = ACMESchedule()
        for hour in 0..<5 { schedule.ordered(at: now + .seconds(Int64(hour) * 3600 - 20_000)) }
        #expect(!schedule.mayOrder(at: now))
        #expect(wait(schedule) == .seconds(86_400 - 20_000))
        #expect(wait(schedule, isContinued: true) == .zero)
        #expect(wait(ACMESchedule(orders: schedule.orders)) == .seconds(86_400 - 20_000))
        #expect(schedule.mayOrder(at: now + .seconds(86_400 - 20_000)))
        let future = ACMESchedule(orders: (1...9).map { now + .seconds($0 * 1000) })
        #expect(future.mayOrder(at: now))
    }
}
