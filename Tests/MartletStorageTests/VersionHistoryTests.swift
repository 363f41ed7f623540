import MartletModel
import Testing

@testable import MartletStorage

struct VersionHistoryTests {
    private static func entry(
        _ version: String, _ schema: Int, _ seconds: Int64 = 1_796_083_200
    ) -> VersionHistory.Entry {
        VersionHistory.Entry(
            at: Timestamp(seconds: seconds), program: ProgramVersion(version: version, commit: "a1"), schema: schema)
    }

    private let history = VersionHistory(entries: [entry("0.1.0", 11), entry("0.2.0", 12), entry("0.2.1", 12)])

    @Test func onlyAChangeIsRecorded() {
        #expect(!history.lacks(ProgramVersion(version: "0.2.1", commit: "a1"), schema: 12))
        #expect(history.lacks(ProgramVersion(version: "0.2.1", commit: "b2"), schema: 12))
        #expect(history.lacks(ProgramVersion(version: "0.1.0", commit: "a1"), schema: 11))
        #expect(VersionHistory(entries: []).lacks(ProgramVersion(version: "0.1.0"), schema: 11))
    }

    /// The copy is the one before the version that changed the schema, not before the last one that ran.
    @Test func aNewerDatabaseIsRefusedWithVersionDateAndTheCopyToRestore() {
        let sentence = history.refusal(of: ProgramVersion(version: "0.1.3"), schema: 11) {
            "/d/backups/before-\($0).backup"
        }
        #expect(
            sentence
                == "The database was last written by Martlet 0.2.1 on 2026-12-01; this is 0.1.3. Run 0.2.1, or restore "
                + "/d/backups/before-0.2.0.backup and lose all later changes.")
        let without = history.refusal(of: ProgramVersion(version: "0.1.3"), schema: 11) { _ in nil }
        #expect(without.hasSuffix("Run 0.2.1, or restore a backup and lose all later changes."))
        let unknown = VersionHistory(entries: []).refusal(of: ProgramVersion(), schema: 9) { $0 }
        #expect(unknown.contains("newer version"))
    }

    @Test func anUpgradeThatWasCutShortIsKnownByItsVersion() {
        let begun = VersionHistory(entries: history.entries + [Self.entry("0.3.0", 14)])
        #expect(begun.mayBeInterrupted(ProgramVersion(version: "0.3.0"), done: 13))
        #expect(!begun.mayBeInterrupted(ProgramVersion(version: "0.3.0"), done: 14))
        #expect(!begun.mayBeInterrupted(ProgramVersion(version: "0.3.1"), done: 13))
        #expect(!history.mayBeInterrupted(ProgramVersion(version: "0.3.0"), done: 12))
        #expect(VersionHistory(entries: []).mayBeInterrupted(ProgramVersion(version: "0.3.0"), done: 10))
    }
}
