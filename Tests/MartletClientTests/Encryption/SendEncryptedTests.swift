import MartletModel
import Testing

@testable import MartletClient

struct SendEncryptedTests {
    private let secret = "The safe opens with 11-38-27."

    /// What a device decrypts of a request's body.
    private func read(_ body: JSON, _ index: Int, on device: Device) throws -> String {
        let text = try #require(body["ciphertexts"]?.array?[index]["ciphertext"]?.string)
        let bytes = try #require(Base64.standard.decode(text))
        return String(
            decoding: try MessageCoding(EncryptingPhone.cryptography).decrypt(bytes, with: device.keyPair),
            as: UTF8.self)
    }

    private func refusal(
        _ phone: EncryptingPhone, to user: String = "bob"
    ) async -> PushClientError.Kind? {
        do throws(PushClientError) {
            try await phone.client.sendEncrypted(secret, to: user)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func nothingIsSentForWhoHasLoggedOutMeanwhile() async throws {
        /// The pins are asked for between the keys and the sending.
        actor Pins: KeyPinStore {
            var work: (@Sendable () async -> Void)?
            func set(_ work: @escaping @Sendable () async -> Void) { self.work = work }
            func pins(of owner: KeyOwner) async -> KeyPins? {
                await work?()
                return nil
            }
            func setPins(_ pins: KeyPins, of owner: KeyOwner) {}
        }
        let pins = Pins()
        let alice = try await EncryptingPhone([Device.keys(try Device("1")), .session("B")], pins: pins)
        let client = alice.client
        await pins.set { try? await client.logIn(user: "carol", password: "other") }
        #expect(await refusal(alice) == .superseded)
        #expect(alice.lines == ["GET /api/users/bob/keys", "POST /api/sessions"])
    }

    @Test func everyDeviceGetsACiphertextOfItsOwn() async throws {
        let (phone, tablet) = (try Device("1"), try Device("2"))
        let alice = try await EncryptingPhone([Device.keys(phone, tablet), .sent(("1", .null), ("2", 7))])
        let deliveries = try await alice.client.sendEncrypted(
            secret, to: "bob", message: "You have mail.", expiresIn: .seconds(60))
        #expect(
            deliveries == [
                EncryptedDelivery(device: "1", storedID: nil), EncryptedDelivery(device: "2", storedID: 7),
            ])
        #expect(alice.lines == ["GET /api/users/bob/keys", "POST /api/notifications/encrypted"])
        let body = try alice.body(1)
        #expect(body["to"] == "bob")
        #expect(body["message"] == "You have mail.")
        #expect(body["expiresIn"] == 60)
        #expect(body["ciphertexts"]?.array?.map { $0["device"]?.string } == ["1", "2"])
        #expect(
            body["ciphertexts"]?.array?.map { $0["fingerprint"]?.string }
                == [try phone.fingerprint.text, try tablet.fingerprint.text])
        #expect(try read(body, 0, on: phone) == secret)
        #expect(try read(body, 1, on: tablet) == secret)
        #expect(throws: MessageCodingError.notAuthentic) { try read(body, 1, on: phone) }
    }

    @Test func whatIsNotSaidIsNotThere() async throws {
        let device = try Device("1")
        let alice = try await EncryptingPhone([Device.keys(device), .sent(("1", .null))])
        try await alice.client.sendEncrypted([0xFF, 0], to: "bob")
        #expect(try alice.body(1).object?.keys.sorted() == ["ciphertexts", "to"])
    }

    @Test func noRequestHoldsTheSecret() async throws {
        let alice = try await EncryptingPhone([Device.keys(try Device("1")), .sent(("1", .null))])
        try await alice.client.sendEncrypted(secret, to: "bob")
        for request in alice.server.requests {
            #expect(!String(decoding: request.body ?? [], as: UTF8.self).contains("38-27"))
        }
    }

    @Test func theFirstKeysArePinnedAndGoOnBeingTrusted() async throws {
        let device = try Device("1")
        let alice = try await EncryptingPhone([
            Device.keys(device), .sent(("1", .null)), Device.keys(device), .sent(("1", .null)),
        ])
        try await alice.client.sendEncrypted(secret, to: "bob")
        try await alice.client.sendEncrypted(secret, to: "Bob")
        let owner = KeyOwner("BOB", at: "https://push.example.org")
        #expect(try await alice.pins.pins(of: owner) == KeyPins(["1": try device.fingerprint]))
    }

    @Test func aSwappedKeyStopsTheSendingAndIsShown() async throws {
        let (before, after) = (try Device("1"), try Device("1"))
        let alice = try await EncryptingPhone([Device.keys(before), .sent(("1", .null)), Device.keys(after)])
        try await alice.client.sendEncrypted(secret, to: "bob")
        guard case .keysChanged(let keys) = await refusal(alice) else {
            Issue.record("The swapped key was not noticed.")
            return
        }
        #expect(keys.changed.map(\.fingerprint) == [try after.fingerprint])
        #expect(keys.removed.map(\.fingerprint) == [try before.fingerprint])
        #expect(keys.added == [])
        #expect(!keys.isTrusted)
        #expect(alice.lines.last == "GET /api/users/bob/keys")
    }

    @Test func anAddedKeyStopsTheSendingAndARemovedOneDoesNot() async throws {
        let (phone, tablet, watch) = (try Device("1"), try Device("2"), try Device("3"))
        let alice = try await EncryptingPhone([
            Device.keys(phone, tablet), .sent(("1", .null)), Device.keys(phone), .sent(("1", .null)),
            Device.keys(phone, watch),
        ])
        try await alice.client.sendEncrypted(secret, to: "bob")
        try await alice.client.sendEncrypted(secret, to: "bob")
        guard case .keysChanged(let keys) = await refusal(alice) else {
            Issue.record("The added key was not noticed.")
            return
        }
        #expect(keys.added.map(\.device) == ["3"])
        #expect(keys.changed == [])
        #expect(keys.removed.map(\.device) == ["2"])
    }

    @Test func aTrustedKeyStaysSoUnderAnotherRegistration() async throws {
        let device = try Device("1")
        let alice = try await EncryptingPhone([
            Device.keys(device), .sent(("1", .null)), Device.keys(Device("2", device.keyPair)), .sent(("2", .null)),
        ])
        try await alice.client.sendEncrypted(secret, to: "bob")
        try await alice.client.sendEncrypted(secret, to: "bob")
        #expect(alice.server.requests.count == 5)
    }

    @Test func preciselyTheKeysThatWereShownAreTrusted() async throws {
        let (old, shown, later) = (try Device("1"), try Device("1"), try Device("2"))
        let alice = try await EncryptingPhone([
            Device.keys(old), .sent(("1", .null)), Device.keys(shown), Device.keys(shown, later), Device.keys(shown),
            .sent(("1", .null)), Device.keys(old),
        ])
        try await alice.client.sendEncrypted(secret, to: "bob")
        guard case .keysChanged(let keys) = await refusal(alice) else {
            Issue.record("The swapped key was not noticed.")
            return
        }
        try await alice.client.trust(keys)
        guard case .keysChanged(let further) = await refusal(alice) else {
            Issue.record("A key that was not shown was trusted.")
            return
        }
        #expect(further.added.map(\.device) == ["2"])
        #expect(further.changed == [])
        #expect(await refusal(alice) == nil)
        guard case .keysChanged = await refusal(alice) else {
            Issue.record("A key that was shown as removed is still trusted.")
            return
        }
    }

    @Test func lookingAtKeysPinsNothing() async throws {
        let (first, second) = (try Device("1"), try Device("1"))
        let alice = try await EncryptingPhone([Device.keys(first), Device.keys(second), .sent(("1", .null))])
        let keys = try await alice.client.keys(of: "bob")
        #expect(keys.isFirstUse)
        #expect(keys.devices == [DeviceFingerprint(device: "1", platform: "apns", fingerprint: try first.fingerprint)])
        #expect(await refusal(alice) == nil)
    }

    @Test func keysThatWereComparedBeforehandAreTheOnlyOnes() async throws {
        let (compared, swapped) = (try Device("1"), try Device("1"))
        let alice = try await EncryptingPhone([Device.keys(compared), Device.keys(swapped)])
        try await alice.client.trust(try await alice.client.keys(of: "bob"))
        guard case .keysChanged = await refusal(alice) else {
            Issue.record("The swapped key was not noticed.")
            return
        }
    }

    @Test func keysThatChangeWhileSendingAreFetchedAgainOnce() async throws {
        let (phone, tablet) = (try Device("1"), try Device("2"))
        let conflict = ScriptedServer.Entry.answer(409, ["code": 40900, "message": "Stale.", "devices": ["2"]])
        let alice = try await EncryptingPhone([
            Device.keys(phone, tablet), conflict, Device.keys(phone), .sent(("1", .null)), Device.keys(phone), conflict,
            Device.keys(phone), conflict,
        ])
        #expect(try await alice.client.sendEncrypted(secret, to: "bob").map(\.device) == ["1"])
        #expect(await refusal(alice) == .refused(status: 409))
        #expect(alice.lines.count == 8)
    }

    @Test func aSwapBetweenTheTwoFetchesIsNoticed() async throws {
        let alice = try await EncryptingPhone([
            Device.keys(try Device("1")), .answer(409), Device.keys(try Device("1")),
        ])
        guard case .keysChanged = await refusal(alice) else {
            Issue.record("The swapped key was not noticed.")
            return
        }
    }

    @Test func noDeviceToEncryptForIsAnErrorAndPinsNothing() async throws {
        let device = try Device("1")
        let alice = try await EncryptingPhone([Device.keys(), Device.keys(device), .sent(("1", .null))])
        #expect(await refusal(alice) == .noKey)
        #expect(await refusal(alice) == nil)
    }

    @Test func keysThatAreNoneAreTheServersProblem() async throws {
        var point = try Device("1").keyPair.key.publicKey
        point[64] ^= 1
        let off = DeviceKeyPair(
            privateKey: [], key: try #require(DeviceKey(publicKey: point, authSecret: [UInt8](repeating: 0, count: 16)))
        )
        let twice = try Device("1")
        let answers: [ScriptedServer.Entry] = [
            Device.keys(Device("1", off)), Device.keys(twice, twice), .answer(200, "?"),
            .answer(200, ["devices": [["device": "1", "publicKey": "BA", "authSecret": ""]]]),
        ]
        for answer in answers {
            let alice = try await EncryptingPhone([answer])
            #expect(await refusal(alice) == .serverProblem(status: 200))
            #expect(alice.lines == ["GET /api/users/bob/keys"])
        }
    }

    @Test func aTextThatIsTooLongIsNotEvenBegun() async throws {
        let alice = try await EncryptingPhone([])
        let error = await #expect(throws: PushClientError.self) {
            try await alice.client.sendEncrypted([UInt8](repeating: 0, count: 65_434), to: "bob")
        }
        #expect(error?.kind == .messageTooLong)
        #expect(alice.server.requests.isEmpty)
    }

    @Test func pinsThatCannotBeReadStopTheSending() async throws {
        let alice = try await EncryptingPhone([Device.keys(try Device("1"))], pins: LostPins())
        #expect(await refusal(alice) == .storageProblem)
        #expect(alice.lines == ["GET /api/users/bob/keys"])
    }

    @Test func aClientWithoutEncryptionSaysSo() async throws {
        let phone = try await Phone(ScriptedServer())
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.sendEncrypted(secret, to: "bob")
        }
        #expect(error?.kind == .encryptionNotSetUp)
    }
}

/// A store that cannot be read.
struct LostPins: KeyPinStore {
    func pins(of owner: KeyOwner) throws(StorageProblem) -> KeyPins? { throw StorageProblem("The pins are lost.") }
    func setPins(_ pins: KeyPins, of owner: KeyOwner) {}
}
