import MartletModel
import Testing

@testable import MartletServer

struct BackupNoticeTests {
    private let opened = Timestamp(seconds: 1_800_000_000)

    @Test func aServerWithoutABackupIsToldAfterADayAndOnceADay() {
        var notice = BackupNotice()
        var told: [Int] = []
        for hour in 0..<72 where notice.isDue(opened: opened, backup: nil, at: opened + .seconds(hour * 3600)) {
            told.append(hour)
        }
        #expect(told == [24, 48])
    }

    @Test func nothingIsToldOfAServerWithABackupOrOfUnknownAge() {
        var notice = BackupNotice()
        let later = opened + .seconds(10 * 86_400)
        let due = ([(opened, opened), (nil, nil), (opened, nil)] as [(Timestamp?, Timestamp?)]).map { first, backup in
            notice.isDue(opened: first, backup: backup, at: later)
        }
        #expect(due == [false, false, true])
    }
}
