import Foundation
import Testing

@testable import MartletClient

struct KeyFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")

    private var path: String { folder.appendingPathComponent("file").path }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func owner(_ user: String) throws -> KeyOwner {
        KeyOwner(user, at: "https://push.example.org")
    }

    @Test func aKeyPairComesBackFromAFileThatOnlyItsOwnerReads() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileDeviceKeyPairStore(path: path)
        #expect(try await store.load() == nil)
        let pair = try Device("1").keyPair
        try await store.save(pair)
        #expect(try await FileDeviceKeyPairStore(path: path).load() == pair)
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.path) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        try await store.save(nil)
        #expect(try await store.load() == nil)
        try await store.save(nil)
    }

    @Test func aFileThatOthersMayReadIsNotBelieved() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileDeviceKeyPairStore(path: path)
        try await store.save(try Device("1").keyPair)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        await #expect(throws: StorageProblem.self) { try await store.load() }
    }

    @Test func anInvalidKeyPairIsAnErrorAndNotAMissingOne() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try KeyFile(path: path).write(Array("{}".utf8))
        await #expect(throws: StorageProblem.self) { try await FileDeviceKeyPairStore(path: path).load() }
        await #expect(throws: StorageProblem.self) { try await FileDeviceKeyPairStore(path: folder.path).load() }
    }

    @Test func pinsOfManyUsersComeBack() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileKeyPinStore(path: path)
        #expect(try await store.pins(of: owner("bob")) == nil)
        let (bob, eve) = (KeyPins(["1": try Device("1").fingerprint, "2": try Device("2").fingerprint]), KeyPins([:]))
        try await store.setPins(bob, of: owner("bob"))
        try await store.setPins(eve, of: owner("eve"))
        let reopened = FileKeyPinStore(path: path)
        #expect(try await reopened.pins(of: owner("Bob")) == bob)
        #expect(try await reopened.pins(of: owner("eve")) == eve)
        #expect(try await reopened.pins(of: owner("carol")) == nil)
        let elsewhere = KeyOwner("bob", at: "https://other.example.org")
        #expect(try await reopened.pins(of: elsewhere) == nil)
        #expect(try mode(path) == 0o600)
    }

    @Test func storesThatWriteAtTheSameTimeLoseNothing() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let pins = KeyPins(["1": try Device("1").fingerprint])
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask { try await FileKeyPinStore(path: path).setPins(pins, of: try owner("user\(number)")) }
            }
            try await group.waitForAll()
        }
        for number in 0..<16 {
            #expect(try await FileKeyPinStore(path: path).pins(of: owner("user\(number)")) == pins)
        }
    }

    @Test(arguments: [
        "", "[]", #"{"https://push.example.org": 1}"#, #"{"https://push.example.org": {"bob": {"1": "x"}}}"#,
    ])
    func invalidPinsAreAnErrorAndNotAnEmptyList(text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try KeyFile(path: path).write(Array(text.utf8))
        await #expect(throws: StorageProblem.self) {
            try await FileKeyPinStore(path: path).pins(of: owner("bob"))
        }
    }
}
