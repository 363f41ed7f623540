import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletBackend

struct EncryptedTests {
    @Test func eachDeviceGetsWhatWasEncryptedForItAndNothingElse() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let tablet = try await fixture.registerKeyed("bob2", as: "bob")
        _ = try await fixture.register("bob3", as: "bob")
        let response = await fixture.sendEncrypted(
            [try phone.entry("to the phone"), try tablet.entry("to the tablet")], to: "Bob", as: "alice")
        #expect(response.status == .created && response.fields["cache-control"] == "no-store")
        #expect(
            try response.json["devices"] == [
                ["device": .string(phone.id), "id": .null], ["device": .string(tablet.id), "id": .null],
            ])
        let sent = fixture.sent.deliveries
        #expect(sent.count == 2)
        #expect(sent.allSatisfy { $0.notification.isConfidential })
        for (delivery, (device, handle, text)) in zip(
            sent, [(phone, "bob1", "to the phone"), (tablet, "bob2", "to the tablet")])
        {
            #expect(try await fixture.audience(of: delivery) == [handle])
            let texts = Self.texts(of: delivery)
            #expect(texts["notificationId"] == delivery.notification.id.description)
            let ciphertext = try #require(Base64.decode(texts["encrypted"] ?? ""))
            #expect(try device.open(ciphertext) == text)
        }
    }

    @Test func aDeviceThatChangedHandsGetsNothing() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        #expect(await fixture.sendEncrypted([try phone.entry("x")], to: "bob", as: "alice").status == .created)
        _ = try await fixture.register("bob1", as: "carol")
        #expect(try await fixture.audience(of: try #require(fixture.sent.deliveries.first)).isEmpty)
    }

    @Test func onApplesDevicesTheMessageStandsWhereTheAppMayReplaceIt() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("ABCD", as: "bob", platform: "apns")
        _ = await fixture.sendEncrypted(
            [try phone.entry("x")], to: "bob", as: "alice", ["message": "Something for you"])
        _ = await fixture.sendEncrypted([try phone.entry("x")], to: "bob", as: "alice")
        let payloads = try fixture.sent.deliveries.map { try JSON(parsing: $0.notification.content.body) }
        #expect(payloads[0]["aps"] == ["alert": "Something for you", "mutable-content": 1])
        #expect(payloads[1]["aps"] == ["alert": "You have an encrypted message.", "mutable-content": 1])
        let ciphertext = try #require(Base64.decode(payloads[0]["encrypted"]?.string ?? ""))
        #expect(try phone.open(ciphertext) == "x")
    }

    @Test func aCiphertextThatDoesNotFitThePushIsStoredForItsDevice() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let tablet = try await fixture.registerKeyed("ABCD", as: "bob", platform: "apns")
        let text = String(repeating: "long ", count: 200)
        let response = await fixture.sendEncrypted(
            [try phone.entry(text), try tablet.entry(text)], to: "bob", as: "alice", ["expiresIn": 60])
        #expect(response.status == .created)
        let devices = try #require(try response.json["devices"]?.array)
        #expect(devices[1]["id"] == .null)
        let number = try #require(devices[0]["id"]?.integer)
        #expect(Self.texts(of: fixture.sent.deliveries[0]) == ["encryptedId": String(number)])
        #expect(fixture.sent.deliveries.allSatisfy { $0.notification.expiresAt == fixture.time.now + .seconds(60) })
        let id = try #require(PayloadID(String(number)))
        let stored = try #require(try await fixture.storage.payload(id, for: "bob", at: fixture.time.now)).payload
        #expect(stored.kind == .encrypted && stored.device == phone.id && stored.sender == "alice")
        guard case .text(let ciphertext) = stored.content else { throw CancellationError() }
        #expect(try phone.open(ciphertext) == text)
        #expect(try await fixture.storage.payload(id, for: "alice", at: fixture.time.now) == nil)
        #expect(try await fixture.storage.payload(id, for: "bob", at: fixture.time.now + .seconds(60)) == nil)
    }

    @Test func ciphertextsForOtherKeysAreNotSentAndTheDevicesAreNamed() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let old = try await fixture.registerKeyed("bob2", as: "bob")
        _ = try await fixture.registerKeyed("bob2", as: "bob", id: old.id)
        let carols = try await fixture.registerKeyed("carol1", as: "carol")
        let response = await fixture.sendEncrypted(
            [try phone.entry("x"), try old.entry("x"), try carols.entry("x")], to: "bob", as: "alice")
        #expect(response.status == .conflict)
        #expect(try response.json["code"] == 40900)
        #expect(try response.json["devices"] == [.string(old.id), .string(carols.id)])
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aUserWhomNobodyKnowsIsAnsweredAsOneWithoutTheDevice() async throws {
        let fixture = try await Fixture()
        let carols = try await fixture.registerKeyed("carol1", as: "carol")
        let known = await fixture.sendEncrypted([try carols.entry("x")], to: "bob", as: "alice")
        let unknown = await fixture.sendEncrypted([try carols.entry("x")], to: "zoe", as: "alice")
        #expect(known.status == .conflict && known.bytes == unknown.bytes)
    }

    @Test func aRequestThatThePolicyForbidsIsRefused() async throws {
        let fixture = try await Fixture(settings: BackendSettings(policy: RolePolicy(usersMaySend: false)))
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let response = await fixture.sendEncrypted([try phone.entry("x")], to: "bob", as: "alice")
        #expect(response.status == .forbidden)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aPayloadOverTheQuotaLeavesNothingAndSendsNothing() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(payloads: PayloadSettings(quota: 1500 + 2 * StoredPayload.recordSize)))
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let tablet = try await fixture.registerKeyed("bob2", as: "bob")
        let text = String(repeating: "x", count: 1000)
        let entries = [try phone.entry(text), try tablet.entry(text)]
        for _ in 0..<2 {
            let response = await fixture.sendEncrypted(entries, to: "bob", as: "alice")
            #expect(try response.json["code"] == 41301)
        }
        #expect(fixture.sent.deliveries.isEmpty)
        #expect(await fixture.sendEncrypted([entries[0]], to: "bob", as: "alice").status == .created)
    }

    @Test func aBodyIsReadOfThoseAloneWhoHaveShownCredentials() async throws {
        let fixture = try await Fixture()
        for (user, code, reads) in [(nil, 40100, 0), ("alice", 40800, 1)] as [(String?, JSON, Int)] {
            let body = StalledBody()
            var request = HTTPRequest(.post, "/api/notifications/encrypted")
            request.fields["authorization"] = user.map { fixture.basic($0, $0 + "1") }
            request.stream = body
            #expect(try await fixture.handler.respond(to: request).json["code"] == code)
            #expect(body.reads.load(ordering: .relaxed) == reads)
        }
    }

    /// A body that does not come.
    private final class StalledBody: HTTPBodyReader {
        let reads = Atomic(0)

        func read() async throws(HTTPBodyError) -> [UInt8]? {
            reads.add(1, ordering: .relaxed)
            throw .stalled
        }
    }

    @Test func aPayloadThatCouldNotBeAnnouncedIsWithdrawn() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(payloads: PayloadSettings(quota: 2500 + 2 * StoredPayload.recordSize)),
            roomForNotifications: 1)
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let tablet = try await fixture.registerKeyed("bob2", as: "bob")
        let text = String(repeating: "x", count: 1000)
        let response = await fixture.sendEncrypted(
            [try phone.entry(text), try tablet.entry(text)], to: "bob", as: "alice")
        #expect(response.status.code >= 500)
        #expect(fixture.sent.deliveries.count == 1)
        let size = try await fixture.storage.payloadSize(sentBy: "alice", at: fixture.time.now)
        #expect(size == 1000 + 103 + StoredPayload.recordSize)
    }

    @Test func aMessageThatNoPushHasRoomForIsRefusedAndTheCiphertextGoes() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(payloads: PayloadSettings(quota: 400 + StoredPayload.recordSize)))
        let phone = try await fixture.registerKeyed(
            "https://sn1.notify.live.net/throttledthirdparty/01.00/x", as: "bob", platform: "mpns")
        let entry = try phone.entry(String(repeating: "x", count: 250))
        let long: [String: JSON] = ["message": .string(String(repeating: "x", count: 1000))]
        for _ in 0..<2 {
            let response = await fixture.sendEncrypted([entry], to: "bob", as: "alice", long)
            #expect(response.status == .contentTooLarge)
            #expect(try response.json["code"] == 41300)
        }
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: [
        (#""to":"bob""#, 40001), (#""to":"bob","ciphertexts":[]"#, 40001), (#""to":"bob","ciphertexts":{}"#, 40001),
        (#""to":"bob","ciphertexts":[1]"#, 40001), (#""ciphertexts":[{}]"#, 40001),
        (#""to":["bob"],"ciphertexts":[{}]"#, 40001), (#""to":"bob","ciphertexts":[{}]"#, 40001),
        (#""to":"a b","ciphertexts":[ENTRY]"#, 40002), (#""to":"","ciphertexts":[ENTRY]"#, 40002),
        (#""to":"bob","ciphertexts":[ENTRY,ENTRY]"#, 40001), (#""to":"bob","message":"","ciphertexts":[ENTRY]"#, 40001),
        (#""to":"bob","message":1,"ciphertexts":[ENTRY]"#, 40001),
        (#""to":"bob","message":"LONG","ciphertexts":[ENTRY]"#, 41300),
        (#""to":"bob","expiresIn":0,"ciphertexts":[ENTRY]"#, 40001),
        (#""to":"bob","expiresIn":2592001,"ciphertexts":[ENTRY]"#, 40001),
        (#""to":"bob","expiresIn":"1","ciphertexts":[ENTRY]"#, 40001),
        (#""to":"bob","ciphertexts":[{"device":"1","fingerprint":"AA","ciphertext":"CIPHER"}]"#, 40001),
        (#""to":"bob","ciphertexts":[{"device":"1","fingerprint":"FINGER","ciphertext":"AAAA"}]"#, 40001),
        (#""to":"bob","ciphertexts":[{"device":"1","fingerprint":"FINGER","ciphertext":"clear text"}]"#, 40001),
        (#""to":"bob","ciphertexts":[{"device":"1","fingerprint":"FINGER","ciphertext":"ZEROS"}]"#, 40001),
        (#""to":"bob","ciphertexts":[{"device":"1","fingerprint":"FINGER","ciphertext":"HUGE"}]"#, 41300),
    ])
    func badInputIsRefusedInASentenceAndNothingIsSent(members: String, code: Int64) async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let cipher = try phone.ciphertext("x")
        let huge = cipher[..<16] + [0, 2, 0, 0] + cipher[20..<86] + [UInt8](repeating: 0, count: 66_000)
        let body = "{\(members)}"
            .replacing("ENTRY", with: try phone.entry("x").text).replacing("CIPHER", with: Base64.encode(cipher))
            .replacing("FINGER", with: Base64URL.encode(phone.key.fingerprint))
            .replacing("ZEROS", with: Base64.encode([UInt8](repeating: 0, count: 200)))
            .replacing("HUGE", with: Base64.encode(Array(huge)))
            .replacing("LONG", with: String(repeating: "x", count: 1001))
        let response = await fixture.ask(.post, "/api/notifications/encrypted", as: "alice", body)
        #expect(try response.json["code"] == .integer(code))
        #expect(response.message.hasSuffix("."))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    /// Lines of name and value, as the platform of the tests carries them.
    private static func texts(of delivery: Delivery) -> [String: String] {
        let lines = String(decoding: delivery.notification.content.body, as: UTF8.self).split(separator: "\n")
        let pairs = lines.map { $0.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) } }
        return Dictionary(pairs.map { ($0[0], $0.last ?? "") }) { first, _ in first }
    }
}
