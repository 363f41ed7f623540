import Foundation
import MartletModel
import Testing

@testable import MartletServer
@testable import MartletStorage

struct ServerCheckTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)")
        .path
    private let now = Timestamp(seconds: 1_800_000_000)

    private func check(_ change: (inout ServerConfiguration) -> Void = { _ in }) -> ServerCheck {
        var configuration = ServerConfiguration(
            dataDirectory: directory, listen: ServerConfiguration.Address(host: "127.0.0.1", port: 0))
        change(&configuration)
        return ServerCheck(configuration, now: now)
    }

    @Test func aMissingDirectoryIsFineAndIsNotMade() {
        #expect(check().data(servedBy: 1000).map(\.level) == [.ok])
        #expect(check().disk().isEmpty && check().database().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func aDirectoryThatOthersCanReadIsAWarningAndThatOfAnotherUserAProblem() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let owner = try #require(DirectoryOwner(of: directory))
        #expect(check().data(servedBy: owner.user).map(\.level) == [.warning])
        #expect(check().data(servedBy: owner.user + 1).map(\.level) == [.problem, .warning])
    }

    @Test func entriesOfAnotherUserAreNamed() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try "".write(toFile: "\(directory)/secret.key", atomically: true, encoding: .utf8)
        let owner = try #require(DirectoryOwner(of: directory))
        #expect(owner.foreignFiles(in: directory).isEmpty)
        #expect(DirectoryOwner(user: owner.user + 1, group: 0).foreignFiles(in: directory) == ["secret.key"])
    }

    @Test(arguments: [("unfinished-move", "was not finished"), ("moved", "was moved to")])
    func aDirectoryThatAMoveHasMarkedIsAProblem(mark: String, sentence: String) async throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try "the database 'm'".write(toFile: "\(directory)/\(mark)", atomically: true, encoding: .utf8)
        for database in [nil, "postgres://u@h/m"] {
            let results = check { $0.database = database }.database()
            #expect(results.map(\.level) == [.problem] && results[0].sentence.contains(sentence), "\(results)")
        }
    }

    @Test(arguments: ["unfinished-move", "moved"], [true, false])
    func aStartOnADirectoryThatAMoveHasMarkedMakesNoKey(mark: String, hasDatabase: Bool) async throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for name in hasDatabase ? [mark, "martlet.db"] : [mark] {
            #expect(FileManager.default.createFile(atPath: "\(directory)/\(name)", contents: nil))
        }
        let configuration = ServerConfiguration(
            dataDirectory: directory, listen: ServerConfiguration.Address(host: "127.0.0.1", port: 0))
        await #expect {
            try await Server.start(configuration)
        } throws: {
            "\($0)".contains(mark == "moved" ? "was moved to" : "was not finished")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(directory)/secret.key"))
    }

    /// A start makes no key in such a directory, and says what `martlet check` says.
    @Test(
        arguments: [
            ("martlet.db", "postgres://u@127.0.0.1:1/m", "has a database of its own"),
            ("shared-database", nil, "is in PostgreSQL"),
        ] as [(String, String?, String)])
    func aDirectoryWhoseDataIsElsewhereIsAProblem(file: String, database: String?, sentence: String) async throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(FileManager.default.createFile(atPath: "\(directory)/\(file)", contents: nil))
        let results = check { $0.database = database }.database()
        #expect(results.map(\.level) == [.problem] && results[0].sentence.contains(sentence), "\(results)")
        var configuration = ServerConfiguration(
            dataDirectory: directory, listen: ServerConfiguration.Address(host: "127.0.0.1", port: 0))
        configuration.database = database
        let error = await #expect(throws: ServerError.self) { try await Server.start(configuration) }
        #expect(error?.description == results.first?.sentence)
        #expect(!FileManager.default.fileExists(atPath: "\(directory)/secret.key"))
    }

    @Test func aNodeWithoutAKeyMakesNoneWhileItsDatabaseIsAway() async throws {
        var configuration = ServerConfiguration(
            dataDirectory: directory, listen: ServerConfiguration.Address(host: "127.0.0.1", port: 0))
        configuration.database = "postgres://u@127.0.0.1:1/m"
        let error = await #expect(throws: ServerError.self) { try await Server.start(configuration) }
        #expect(error?.description.contains("Nobody listens at the database 'm' on 127.0.0.1:1.") == true)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func aKeyThatCannotBeReadIsAProblemOfANode() async throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(
            FileManager.default.createFile(
                atPath: "\(directory)/secret.key", contents: Data("no key".utf8), attributes: [.posixPermissions: 0o600]
            )
        )
        let results = await check { $0.database = "postgres://u@127.0.0.1:1/m" }.sharedDatabase()
        #expect(results.contains { $0.sentence.contains("secret.key is damaged") }, "\(results)")
    }

    @Test func aPrivateAuthorityOfEachNodeIsAWarning() {
        func levels(_ database: String?) -> [CheckResult.Level] {
            check {
                $0.database = database
                $0.tlsListen = ServerConfiguration.Address(host: "127.0.0.1", port: 0)
                $0.tls = .selfSigned
            }.certificate().map(\.level)
        }
        #expect(levels(nil) == [.ok])
        #expect(levels("postgres://u@h/m") == [.warning])
    }

    @Test func aFileThatIsNoDatabaseIsAProblem() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try String(repeating: "no database ", count: 100)
            .write(toFile: "\(directory)/martlet.db", atomically: true, encoding: .utf8)
        #expect(check().database().map(\.level) == [.problem])
    }

    @Test func anUpgradeSaysWhetherTheDataIsCopiedFirst() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/\(SQLiteStorage.Settings.databaseName)"
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
        try Migrator(migrations: Migration.all.dropLast()).migrate(try SQLiteStorage.Settings().openWriter(path))
        let copying = check().database()
        #expect(copying.map(\.level) == [.warning])
        #expect(copying[0].sentence.contains("copies the data to"))
        let notCopying = check { $0.copiesBeforeUpgrade = false }.database()
        #expect(notCopying.map(\.level) == [.warning])
        #expect(notCopying[0].sentence.contains("does not copy the data first (--no-copy-before-upgrade)"))
    }

    @Test func aTakenPortIsAProblemAndAFreeOneIsNotAndAStartOnItMakesNoDirectory() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                #expect(bind(listener, pointer, length) == 0 && listen(listener, 1) == 0)
                #expect(getsockname(listener, pointer, &length) == 0)
            }
        }
        let taken = ServerConfiguration.Address(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port))
        #expect(check { $0.listen = taken }.ports().map(\.level) == [.problem])
        #expect(check().ports().map(\.level) == [.ok])
        #expect(check().ports(simulator: taken).map(\.level) == [.ok, .problem])
        await #expect(throws: ServerError.self) {
            try await Server.start(ServerConfiguration(dataDirectory: directory, listen: taken))
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func aCertificateThatCannotBeReadIsAProblem() {
        let results = check {
            $0.tlsListen = ServerConfiguration.Address(host: "127.0.0.1", port: 0)
            $0.tls = .files(certificate: "/nonexistent/chain.pem", key: "/nonexistent/key.pem")
        }.certificate()
        #expect(
            results == [
                CheckResult(.problem, "certificate", "Cannot read /nonexistent/chain.pem: there is no such file.")
            ])
    }

    @Test(
        arguments: [(-1, .problem), (0, .problem), (13 * 86_400, .warning), (15 * 86_400, .ok)]
            as [(Int64, CheckResult.Level)])
    func theEndOfACredentialIsToldInTime(seconds: Int64, level: CheckResult.Level) {
        let end = Timestamp(seconds: now.seconds + seconds)
        #expect(check().credentials(ofHub: "demo", ends: ["apns": end]).map(\.level) == [level])
        #expect(check().credentials(ofHub: "demo", ends: ["apns": nil]).map(\.level) == [.ok])
    }

    @Test(
        arguments: [
            (["a", "b"], .current), (["a"], .older(steps: 1)), ([], .older(steps: 2)), (["a", "b", "c"], .newer),
            (["x"], .newer),
        ] as [([String], SchemaState)])
    func theSchemaIsComparedStepByStep(done: [String], state: SchemaState) {
        #expect(SchemaState(done: done, known: ["a", "b"]) == state)
    }
}
