import MartletModel
import Testing

@testable import MartletClient

struct DeviceKeyTests {
    private let secret = Array("The safe opens with 11-38-27.".utf8)

    private func refusal(_ phone: EncryptingPhone, _ push: EncryptedPush) async -> PushClientError.Kind? {
        do throws(PushClientError) {
            _ = try await phone.client.decrypt(push)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func theKeyIsMadeAtTheFirstRegistrationAndSentWithEveryOne() async throws {
        let bob = try await EncryptingPhone([.answer(200, "1"), .ok, .ok])
        #expect(try await bob.client.fingerprint() == nil)
        try await bob.client.register(handle: "AB", platform: "apns")
        try await bob.client.register(handle: "CD", platform: "apns")
        let keyPair = try #require(try await bob.keyPairs.load())
        let bodies = [try bob.body(1), try bob.body(2)]
        #expect(bodies.map { $0["Handle"] } == ["AB", "CD"])
        for body in bodies {
            #expect(body["PublicKey"]?.string == Base64.urlSafe.encode(keyPair.key.publicKey))
            #expect(body["AuthSecret"]?.string == Base64.urlSafe.encode(keyPair.key.authSecret))
            #expect(body.object?.count == 5)
        }
        #expect(
            try await bob.client.fingerprint() == KeyFingerprint(of: keyPair.key, EncryptingPhone.cryptography))
    }

    @Test func noOtherKeyIsMadeWhileTheKeysCannotBeRead() async throws {
        let bob = try await EncryptingPhone([.answer(200, "1"), .ok], keyPairs: LockedKeys())
        let error = await #expect(throws: PushClientError.self) {
            try await bob.client.register(handle: "AB", platform: "apns")
        }
        #expect(error?.kind == .storageProblem)
        #expect(bob.server.requests.isEmpty)
    }

    @Test func whatAPushBringsIsDecrypted() async throws {
        let device = try Device("1")
        let content = try MessageCoding(EncryptingPhone.cryptography).encrypt(secret, for: device.keyPair.key)
        let text = Base64.standard.encode(content)
        let bob = try await EncryptingPhone(
            [.answer(200, ["Id": 7, "Device": "1", "Ciphertext": .string(text), "Read": false])],
            keyPairs: MemoryDeviceKeyPairStore(device.keyPair))
        let inPush = try #require(EncryptedPush(texts: ["encrypted": text, "more": "x"]))
        #expect(try await bob.client.decrypt(inPush).bytes == secret)
        #expect(bob.server.requests.isEmpty)
        let stored = try #require(EncryptedPush(texts: ["encryptedId": "7"]))
        #expect(try await bob.client.decrypt(stored).text == "The safe opens with 11-38-27.")
        #expect(bob.lines == ["GET /api/notifications/7"])
    }

    @Test func undecryptableMessagesHaveAPreciseError() async throws {
        let device = try Device("1")
        let content = try MessageCoding(EncryptingPhone.cryptography).encrypt(secret, for: try Device("2").keyPair.key)
        let bob = try await EncryptingPhone(
            [.answer(404), .answer(200, ["Id": 7])], keyPairs: MemoryDeviceKeyPairStore(device.keyPair))
        #expect(
            await refusal(bob, .content(Base64.standard.encode(content))) == .encryptionFailed(.notAuthentic))
        #expect(await refusal(bob, .content("AAAA")) == .encryptionFailed(.truncated))
        #expect(await refusal(bob, .content("?")) == .encryptionFailed(.malformed))
        #expect(await refusal(bob, .stored(id: 8)) == .notFound)
        #expect(await refusal(bob, .stored(id: 7)) == .notFound)
        let new = try await EncryptingPhone([])
        #expect(await refusal(new, .content(Base64.standard.encode(content))) == .noKey)
    }

    @Test(arguments: [[:], ["encryptedId": "0"], ["encryptedId": "-1"], ["encryptedId": "x"], ["secureId": "7"]])
    func pushesWithoutAnEncryptedMessageAreNone(texts: [String: String]) {
        #expect(EncryptedPush(texts: texts) == nil)
    }

    @Test func fingerprintsAreEightGroupsOfFiveDigits() throws {
        let fingerprint = try #require(
            KeyFingerprint(bytes: [0, 0, 0, 7, 0, 1, 134, 160] + [UInt8](repeating: 0xFF, count: 24)))
        #expect(fingerprint.description == "00007 00000 67295 67295 67295 67295 67295 67295")
        #expect(KeyFingerprint(text: fingerprint.text) == fingerprint)
        #expect(KeyFingerprint(bytes: [1]) == nil)
    }

    @Test func keysAndSecretsAreNotShown() async throws {
        let pair = try Device("1").keyPair
        #expect("\(pair) \(pair.key)" == "DeviceKeyPair DeviceKey")
        #expect(String(reflecting: pair) == "DeviceKeyPair")
        var shown = ""
        dump(pair, to: &shown)
        #expect(!shown.contains("\(pair.privateKey[0])"))
        let message = DecryptedMessage(bytes: secret)
        #expect("\(message)" == "decrypted message of 29 bytes")
    }
}

/// A keychain before the first unlock.
struct LockedKeys: DeviceKeyPairStore {
    func load() throws(StorageProblem) -> DeviceKeyPair? { throw StorageProblem("The device is locked.") }
    func save(_ keyPair: DeviceKeyPair?) throws(StorageProblem) { throw StorageProblem("The device is locked.") }
}
