import Glibc
import MartletCore
import MartletModel
import MartletStorage
import Testing

struct DirectoryTests {
    private let directory = TemporaryDirectory()

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func error(opening path: String) -> StorageError? {
        do throws(StorageError) {
            _ = try SQLiteStorage(directory: path, sealer: XORSealer())
            return nil
        } catch {
            return error
        }
    }

    @Test func theDirectoryIsMadeAndEverythingInItIsPrivate() async throws {
        let path = "\(directory.path)/made/for/it"
        let storage = try SQLiteStorage(directory: path, sealer: XORSealer())
        try await storage.putUser(User(name: "alice", passwordHash: "", createdAt: .init(seconds: 0)))
        _ = try storage.progressMaps.map(for: Delivery.ID(rawValue: 1), through: 1)
        #expect(mode(path) == 0o700)
        for file in ["martlet.db", "martlet.db-wal", "martlet.db-shm", "lock", "progress/1"] {
            #expect(mode("\(path)/\(file)") == 0o600, "\(file)")
        }
        #expect(mode("\(path)/progress") == 0o700)
        await storage.close()
    }

    @Test func aSecondOwnerIsRefusedUntilTheFirstHasClosed() async throws {
        let first = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let refusal = error(opening: directory.path)
        #expect(refusal?.kind == .locked)
        #expect(refusal?.detail.contains(directory.path) == true)
        await first.close()
        #expect(error(opening: directory.path) == nil)
    }

    @Test func anEmptyDirectoryIsMadePrivate() {
        chmod(directory.path, 0o755)
        #expect(error(opening: directory.path) == nil)
        #expect(mode(directory.path) == 0o700)
    }

    @Test func aDirectoryWithOtherThingsInItIsNotTouched() {
        close(creat("\(directory.path)/letter.txt", 0o644))
        chmod(directory.path, 0o755)
        #expect(error(opening: directory.path)?.kind == .unavailable)
        #expect(mode(directory.path) == 0o755)
    }

    @Test(arguments: ["payloads", "progress", "storage"])
    func aDirectoryOfTheDataThatIsALinkIsRefusedAndNothingIsWrittenWhereItPoints(name: String) throws {
        let elsewhere = TemporaryDirectory()
        #expect(symlink(elsewhere.path, "\(directory.path)/\(name)") == 0)
        let refusal = error(opening: directory.path)
        #expect(refusal?.kind == .unavailable)
        #expect(refusal?.detail == "'\(directory.path)/\(name)' is a symbolic link; put the directory itself there.")
        #expect(rmdir(elsewhere.path) == 0, "something is in it")
    }

    @Test func aFileThatIsNoDatabaseIsCalledDamaged() {
        let file = open("\(directory.path)/martlet.db", O_CREAT | O_WRONLY, 0o600)
        let text = String(repeating: "no database, but quite long. ", count: 100)
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
        #expect(error(opening: directory.path)?.kind == .corrupt)
    }

    @Test func afterClosingEverythingAnswersClosed() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        await storage.close()
        await #expect { try await storage.hubs() } throws: { ($0 as? StorageError)?.kind == .closed }
        await #expect { try await storage.removeUser("a") } throws: { ($0 as? StorageError)?.kind == .closed }
    }
}
