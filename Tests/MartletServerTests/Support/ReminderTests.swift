import MartletModel
import Testing

@testable import MartletServer

struct ReminderTests {
    @Test func aLineIsWrittenOnceInAnInterval() {
        let reminder = Reminder(every: .seconds(60))
        let start = Timestamp(milliseconds: 1_000_000)
        let offsets: [Int64] = [0, 1, 59_999, 60_000, 60_001, 500_000]
        let due = offsets.map { reminder.isDue(at: Timestamp(milliseconds: start.milliseconds + $0)) }
        #expect(due == [true, false, false, true, false, true])
    }
}
