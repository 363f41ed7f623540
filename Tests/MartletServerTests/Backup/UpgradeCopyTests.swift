import MartletCore
import MartletModel
import MartletStorage
import Testing

@testable import MartletServer

struct UpgradeCopyTests {
    @Test func theTwoNewestCopiesStayAndOtherFilesAreNotTouched() {
        let files: [String: Int64] = [
            "before-0.1.0.backup": 1, "before-0.3.0.backup": 2, "before-0.2.0.backup": 3, "before-.backup": 0,
            "before-0.4.0.backup.part": 0, "martlet-2026-11-23T02:00:00.000Z.backup": 0, "notes": 0,
        ]
        #expect(UpgradeCopyName.expired(files) == ["before-0.1.0.backup"])
        #expect(UpgradeCopyName.expired(["before-1.backup": 1, "before-2.backup": 2]).isEmpty)
    }

    @Test(arguments: [
        (Int64(64_000_001), "65 MB"), (999_000_000, "999 MB"), (1_200_000_000, "1.2 GB"), (12_345_000_000, "12.3 GB"),
    ])
    func withoutRoomTheRefusalSaysHowMuchIsNeeded(_ bytes: Int64, _ size: String) {
        #expect(
            UpgradeCopy.refusal(version: "0.3.0", bytes: bytes)
                == "Upgrading to 0.3.0 needs \(size) for a copy first: make room, or start 'martlet serve' with "
                + "--no-copy-before-upgrade.")
    }
}
