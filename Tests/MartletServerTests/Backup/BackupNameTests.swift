import Foundation
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

    @Test func onlyTheLeftoversOfAKilledProcessAreRemoved() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        // No process has a number that the kernel gives to none.
        let (dead, locked) = ("\(old).4194305", "\(new).4194305")
        let others = [
            old, "\(old).\(getpid())", "\(old).x", "\(old).-5", "notes.4194305", "martlet-mine.backup.4194305",
        ]
        for name in others + [dead, locked] {
            try Data("x".utf8).write(to: directory.appendingPathComponent(name))
        }
        let file = open(directory.appendingPathComponent(locked).path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        try BackupName.removeAbandoned(in: directory.path)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == (others + [locked]).sorted()
        )
    }

    @Test func otherFilesAreLeftAlone() {
        let others = ["martlet-.backup", "martlet-mine.backup", "\(old).123", "notes", "martlet-backup"]
        #expect(BackupName.expired(others, keeping: 1) == [])
        #expect(BackupName.expired(others + [old, new], keeping: 1) == [old])
    }
}
