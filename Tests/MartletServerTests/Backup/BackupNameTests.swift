import MartletModel
import Testing

@testable import MartletServer

struct BackupNameTests {
    private let old = BackupName(Timestamp(seconds: 1_700_000_000)).description
    private let new = BackupName(Timestamp(seconds: 1_800_000_000)).description

    @Test func aBackupIsNamedByItsTime() {
        #expect(old == "martlet-2023-11-14T22:13:20.000Z.backup")
    }

    @Test func theNewestStay() {
        #expect(BackupName.expired([new, old], keeping: 1) == [old])
        #expect(BackupName.expired([new, old], keeping: 2) == [])
    }

    @Test func otherFilesAreLeftAlone() {
        let others = ["martlet-.backup", "martlet-mine.backup", "\(old).123", "notes", "martlet-backup"]
        #expect(BackupName.expired(others, keeping: 1) == [])
        #expect(BackupName.expired(others + [old, new], keeping: 1) == [old])
    }
}
