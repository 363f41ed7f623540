import Foundation
import MartletCore
import MartletCrypto
import MartletHubAPI
import MartletModel
import MartletStorage
import Testing

@testable import MartletServer

struct ServerKeysTests {
    private let directory = TemporaryDirectory()
    private let secret = Array("a secret".utf8)
    private let texts = ["aa", "bb"].map { String(repeating: $0, count: 32) }

    private func open() throws -> ServerKeys { try ServerKeys(in: directory.path, environment: nil) }

    private func file() throws -> String {
        try String(contentsOfFile: "\(directory.path)/secret.key", encoding: .utf8)
    }

    @Test func aNewKeyIsAFileOfItsOwnerAlone() throws {
        let keys = try open()
        #expect(try ServerKeyRing(file())?.keys.map(\.id) == keys.ids)
        var status = stat()
        #expect(stat("\(directory.path)/secret.key", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try open().ids == keys.ids)
    }

    @Test func anEmptyDirectoryThatOthersCanReadIsMadePrivateFirst() throws {
        #expect(chmod(directory.path, 0o755) == 0)
        let keys = try open()
        #expect(try directory.mode() == 0o700)
        #expect(throws: Never.self) { try SQLiteStorage(directory: directory.path, sealer: keys) }
    }

    @Test func nothingIsLeftInADirectoryThatIsRefused() throws {
        try Data().write(to: URL(fileURLWithPath: "\(directory.path)/other"))
        #expect(chmod(directory.path, 0o755) == 0)
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.description.contains("chmod 700") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["other"])
        #expect(try directory.mode() == 0o755)
    }

    @Test(arguments: [0o644, 0o620, 0o604] as [mode_t])
    func aKeyThatOthersMayKnowIsRefused(mode: mode_t) throws {
        _ = try open()
        #expect(chmod("\(directory.path)/secret.key", mode) == 0)
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.description.contains("chmod 600") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aKeyOfAnotherUserIsRefused() throws {
        _ = try open()
        #expect(chown("\(directory.path)/secret.key", 65534, 65534) == 0)
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.description.contains("belongs to another user") == true)
        #expect(chown(directory.path, 65534, 65534) == 0)
        #expect(throws: Never.self) { try open() }
    }

    @Test func aKeyThatIsALinkIsRefused() throws {
        let elsewhere = TemporaryDirectory()
        _ = try ServerKeys(in: elsewhere.path, environment: nil)
        #expect(symlink("\(elsewhere.path)/secret.key", "\(directory.path)/secret.key") == 0)
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.description.contains("symbolic link") == true)
    }

    @Test func theTemporaryFileIsNeverOneThatWasThere() throws {
        let target = "\(directory.path)/target"
        try Data("as it was".utf8).write(to: URL(fileURLWithPath: target))
        #expect(symlink(target, "\(directory.path)/secret.key.\(getpid())") == 0)
        _ = try open()
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "as it was")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["secret.key", "target"])
    }

    @Test func noKeyIsMadeForADatabaseThatWasSealedWithAnother() throws {
        try Data().write(to: URL(fileURLWithPath: "\(directory.path)/martlet.db"))
        let error = #expect(throws: ServerError.self) { try open() }
        #expect(error?.description.contains("secret.key is missing") == true)
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/secret.key"))
    }

    @Test func aSealedBoxOpensOnlyInItsContext() throws {
        let keys = try open()
        let sealed = try keys.seal(secret, context: "here")
        #expect(sealed.starts(with: keys.mark))
        #expect(keys.open(sealed, context: "here") == secret)
        #expect(keys.open(sealed, context: "there") == nil)
        #expect(keys.open([], context: "here") == nil)
        #expect(keys.open(Array(sealed.prefix(4)), context: "here") == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(keys.open(changed, context: "here") == nil, "byte \(index)")
        }
    }

    @Test func theKeysMayBeInAFileThatTheEnvironmentNames() throws {
        let path = "\(directory.path)/elsewhere"
        try Data((texts.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let data = TemporaryDirectory()
        let text = try KeyEnvironment.text { ["MARTLET_SECRET_KEY_FILE": path][$0] }
        let keys = try ServerKeys(in: data.path, environment: text)
        #expect(keys.ids == ServerKeyRing(texts.joined(separator: ","))?.keys.map(\.id))
        #expect(!FileManager.default.fileExists(atPath: "\(data.path)/secret.key"))
        #expect(try KeyEnvironment.text { ["MARTLET_SECRET_KEY": "x"][$0] } == "x")
        #expect(try KeyEnvironment.text { _ in nil } == nil)
        #expect(try KeyEnvironment.text { ["MARTLET_SECRET_KEY_FILE": ""][$0] } == nil)
        #expect(
            try KeyEnvironment.text { ["MARTLET_SECRET_KEY_FILE": "", "MARTLET_SECRET_KEY": "x"][$0] } == "x")
    }

    @Test(arguments: [
        (["MARTLET_SECRET_KEY_FILE": "/nowhere/secret.key"], "Cannot read /nowhere/secret.key"),
        (["MARTLET_SECRET_KEY_FILE": "/nowhere/secret.key", "MARTLET_SECRET_KEY": "x"], "not both"),
    ])
    func aWrongFileOfKeysIsNamed(environment: [String: String], sentence: String) {
        let error = #expect(throws: ServerError.self) { try KeyEnvironment.text { environment[$0] } }
        #expect(error?.description.contains(sentence) == true)
    }

    @Test func theIDOfAKeyCannotBeExchanged() throws {
        let keys = try ServerKeys(in: directory.path, environment: texts.joined(separator: ","))
        let sealed = try keys.seal(secret, context: "here")
        #expect(keys.open(keys.ids[1] + sealed.dropFirst(4), context: "here") == nil)
    }

    @Test func aNewKeySealsAndTheOldOneOpensAlsoAfterANewStart() throws {
        let keys = try open()
        let old = try keys.seal(secret, context: "here")
        try keys.rotate()
        let new = try keys.seal(secret, context: "here")
        #expect(new.prefix(4) != old.prefix(4))
        for keys in [keys, try open()] {
            #expect(keys.ids.count == 2)
            #expect(keys.mark == Array(new.prefix(4)))
            #expect(keys.open(old, context: "here") == secret)
            #expect(keys.open(new, context: "here") == secret)
        }
    }

    @Test func aRetiredKeyOpensNothingAfterANewStart() throws {
        let keys = try open()
        let old = try keys.seal(secret, context: "here")
        try keys.rotate()
        let new = try keys.seal(secret, context: "here")
        try keys.retire(olderThan: keys.mark)
        #expect(keys.ids.count == 1)
        #expect(keys.open(old, context: "here") == secret, "who has read it a moment ago opens it still")
        let next = try open()
        #expect(next.open(old, context: "here") == nil)
        #expect(next.open(new, context: "here") == secret)
        #expect(try file().split(separator: "\n").count == 1)
    }

    @Test func aKeyThatComesWhileOthersAreRetiredStays() throws {
        let keys = try open()
        let checked = keys.mark
        try keys.rotate()
        try keys.retire(olderThan: checked)
        #expect(keys.ids.count == 2)
    }

    @Test func derivedKeysComeFromTheOldestKey() throws {
        let alone = try ServerKeys(in: directory.path, environment: texts[1])
        let both = try ServerKeys(in: directory.path, environment: texts.joined(separator: ","))
        let other = try ServerKeys(in: directory.path, environment: texts[0])
        func query(_ keys: ServerKeys) throws -> String {
            try keys.urlSigner().query(for: ["a"], .container, rights: .all, until: .distantFuture)
        }
        #expect(try query(both) == query(alone))
        #expect(try query(both) != query(other))
    }

    @Test func keysInTheEnvironmentAreChangedThere() throws {
        let keys = try ServerKeys(in: directory.path, environment: texts.joined(separator: ","))
        #expect(keys.ids.count == 2)
        #expect(throws: ServerError.self) { try keys.rotate() }
        #expect(throws: ServerError.self) { try keys.retire(olderThan: keys.mark) }
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/secret.key"))
        #expect(throws: ServerError.self) { try ServerKeys(in: directory.path, environment: "short") }
    }

    @Test(arguments: ["", "\n", "zz\n", "\0"])
    func aDamagedFileIsNoReasonToMakeANewKey(text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/secret.key"))
        #expect(throws: ServerError.self) { try open() }
        #expect(try file() == text)
    }
}

/// A directory for one test, removed with everything in it when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-server-\(UUID())").path

    init() {
        mkdir(path, 0o700)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func mode() throws -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        return status.st_mode & 0o777
    }
}
