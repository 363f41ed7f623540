import Foundation
import MartletCore
import MartletModel
import MartletStorage
import Testing

@testable import MartletServer

struct BackupFileTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private var data: String { "\(directory.path)/data" }
    private var file: String { "\(directory.path)/backup" }
    private var target: String { "\(directory.path)/restored" }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }

    private func open(_ path: String) throws -> SQLiteStorage {
        let keys = try ServerKeys(in: path, environment: nil)
        return try SQLiteStorage(directory: path, sealer: keys)
    }

    /// A backup of a server with one hub, whose keys are sealed.
    private func backup(withKeys: Bool) async throws -> [UInt8] {
        let storage = try open(data)
        let rule = AccessRule(
            name: "rule", rights: .all, primaryKey: "p", secondaryKey: "s", createdAt: now, modifiedAt: now)
        _ = try await storage.createHub(name: "loft", settings: HubSettings(accessRules: [rule]), at: now)
        let keys = withKeys ? Array(try Data(contentsOf: URL(fileURLWithPath: "\(data)/secret.key"))) : nil
        let backup = Backup(snapshot: try await storage.snapshot(), createdAt: now, keys: keys)
        var bytes: [UInt8] = []
        try await backup.write { bytes += $0 }
        await backup.snapshot.close()
        await storage.close()
        return bytes
    }

    /// An archive that is whole, of members of anybody's making.
    private func archive(_ members: [(String, [UInt8])]) throws -> [UInt8] {
        var writer = ArchiveWriter(time: now.seconds)
        var bytes: [UInt8] = []
        for (name, content) in members { bytes += try writer.member(name, content) }
        return bytes + (try writer.finish())
    }

    private func manifest(schema: [String] = ["hubs"]) -> (String, [UInt8]) {
        (BackupManifest.name, BackupManifest(createdAt: now, schema: schema, holdsKeys: false).bytes)
    }

    private func refusal() -> String? {
        do throws(ServerError) {
            _ = try BackupFile.restore(file, into: target)
            return nil
        } catch {
            return error.description
        }
    }

    private var isNothingLeft: Bool { access(target, F_OK) != 0 }

    @Test func aServerIsRestoredWithItsKeys() async throws {
        try write(try await backup(withKeys: true))
        let summary = try BackupFile.restore(file, into: target)
        #expect(summary == BackupFile.Summary(createdAt: now, holdsKeys: true))
        let storage = try open(target)
        #expect(try await storage.hubs().map(\.settings.accessRules.first?.primaryKey) == ["p"])
        await storage.close()
        var status = stat()
        #expect(stat("\(target)/secret.key", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(target, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func theKeysAreLeftOutUnlessTheyAreAskedFor() async throws {
        let bytes = try await backup(withKeys: false)
        try write(bytes)
        #expect(try BackupFile.restore(file, into: target).holdsKeys == false)
        #expect(access("\(target)/secret.key", F_OK) != 0)
        let key = try #require(
            try String(contentsOfFile: "\(data)/secret.key", encoding: .utf8).split(separator: "\n").first)
        #expect(Data(bytes).range(of: Data(key.utf8)) == nil)
    }

    @Test func aDirectoryWithAnythingInItIsLeftAlone() async throws {
        try write(try await backup(withKeys: false))
        mkdir(target, 0o755)
        try "mine".write(toFile: "\(target)/note", atomically: true, encoding: .utf8)
        #expect(refusal()?.contains("is not empty") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["note"])
    }

    @Test func anEmptyDirectoryIsTakenAndStaysEmptyWhereItFails() async throws {
        let bytes = try await backup(withKeys: true)
        mkdir(target, 0o700)
        try write(bytes.dropLast(700))
        #expect(refusal()?.contains("incomplete") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
        try write(bytes)
        #expect(refusal() == nil)
    }

    @Test func aTruncatedOrChangedArchiveLeavesNothingBehind() async throws {
        let bytes = try await backup(withKeys: true)
        for length in stride(from: 0, to: bytes.count, by: bytes.count / 10) {
            try write(Array(bytes[..<length]))
            #expect(refusal() != nil && isNothingLeft, "cut at \(length)")
        }
        for index in stride(from: 0, to: bytes.count, by: bytes.count / 10) {
            var changed = bytes
            changed[index] ^= 0x20
            try write(changed)
            #expect(refusal() != nil && isNothingLeft, "changed at \(index)")
            #expect(throws: ServerError.self) { try BackupFile.check(file) }
        }
    }

    @Test(arguments: [
        "../escaped", "/var/escaped", "progress/../../escaped", "progress/7/8", "progress/", "progress/-7",
        "progress/07",
        "payloads/..", "payloads/../../../../../../../../esc", "payloads/0123456789ABCDEF0123456789ABCDEF",
        "admin.sock",
        "martlet.db-wal", "lock", "./martlet.db", "martlet.db/", "restored.db", "secret.key/",
    ])
    func aNameThatIsNoneOfABackupIsRefused(name: String) throws {
        try write(try archive([manifest(), ("martlet.db", [1, 2, 3]), (name, [4])]))
        #expect(refusal()?.contains("'\(name)' does not belong there") == true)
        #expect(isNothingLeft)
        #expect(access("\(directory.path)/escaped", F_OK) != 0)
    }

    @Test func otherFilesAreNoBackups() throws {
        for bytes in [[], Array("PK".utf8), [UInt8](repeating: 0, count: 4096), try archive([("notes.txt", [1])])] {
            try write(bytes)
            #expect(refusal()?.contains("no backup of Martlet") == true)
            #expect(isNothingLeft)
        }
    }

    @Test func aFileOfANewerProgramIsRefused() throws {
        try write(try archive([manifest(schema: ["hubs", "of tomorrow"]), ("martlet.db", [])]))
        #expect(refusal()?.contains("newer version") == true)
        try write(try archive([("backup.json", Array(#"{"martletBackup":2}"#.utf8))]))
        #expect(refusal()?.contains("newer version") == true)
    }

    @Test func aBackupNeedsItsDatabaseOnce() throws {
        try write(try archive([manifest()]))
        #expect(refusal()?.contains("it has no database") == true)
        try write(try archive([manifest(), ("martlet.db", []), ("martlet.db", [])]))
        #expect(refusal()?.contains("'martlet.db' does not belong there") == true)
        #expect(isNothingLeft)
    }
}
