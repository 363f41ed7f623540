import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

struct DeviceKeyTests {
    private static let point = Base64URL.encode(
        [4] + (Hex.decode("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296") ?? [])
            + (Hex.decode("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5") ?? []))
    private static let secret = Base64URL.encode([UInt8](repeating: 1, count: 16))

    @Test func usersWhoMaySendToAUserGetTheKeysOfTheDevices() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let tablet = try await fixture.registerKeyed("ABCD", as: "bob", platform: "apns")
        _ = try await fixture.register("bob3", as: "bob")
        _ = try await fixture.registerKeyed("alice1", as: "alice")
        let response = await fixture.ask(.get, "/api/users/Bob/keys", as: "alice")
        #expect(response.status == .ok && response.fields["cache-control"] == "no-store")
        #expect(try response.json["user"] == "bob")
        let devices = Set(try response.json["devices"]?.array ?? [])
        #expect(
            devices
                == Set(
                    [(phone, "pigeon"), (tablet, "apns")].map { device, platform in
                        [
                            "device": .string(device.id), "platform": .string(platform),
                            "publicKey": .string(Base64URL.encode(device.key.publicKey)),
                            "authSecret": .string(Base64URL.encode(device.key.authSecret)),
                        ]
                    }))
        #expect(try await fixture.registration(phone.id)?.tags.contains(Tag("$RegistrationId:{\(phone.id)}")) == true)
    }

    @Test func aUserWithoutKeysLooksLikeNobodyAndLikeOneWhoMayNotBeWrittenTo() async throws {
        let fixture = try await Fixture()
        let closed = try await Fixture(settings: BackendSettings(policy: RolePolicy(usersMaySend: false)))
        _ = try await closed.registerKeyed("bob1", as: "bob")
        for (fixture, user) in [(fixture, "bob"), (fixture, "zoe"), (closed, "bob")] {
            let response = await fixture.ask(.get, "/api/users/\(user)/keys", as: "alice")
            #expect(response.status == .ok)
            #expect(try response.json == ["user": .string(user), "devices": []])
        }
        #expect(await fixture.ask(.get, "/api/users/a%20b/keys", as: "alice").status == .badRequest)
        #expect(await fixture.ask(.get, "/api/users/bob/keys").status == .unauthorized)
    }

    @Test func aRegistrationWrittenWithoutAKeyHasNoneAnyMore() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.registerKeyed("bob1", as: "bob")
        #expect(try await fixture.keys(of: "bob", as: "alice").count == 1)
        #expect(await fixture.put(device.id, "bob1", as: "bob").status == .ok)
        #expect(try await fixture.keys(of: "bob", as: "alice").isEmpty)
        #expect(try await fixture.registration(device.id)?.tags.map(\.folded) == ["username:bob"])
    }

    @Test func aNewKeyTakesThePlaceOfTheOldOne() async throws {
        let fixture = try await Fixture()
        let old = try await fixture.registerKeyed("bob1", as: "bob")
        let new = try await fixture.registerKeyed("bob1", as: "bob", id: old.id)
        let keys = try await fixture.keys(of: "bob", as: "alice")
        #expect(keys.map { $0["publicKey"]?.string } == [Base64URL.encode(new.key.publicKey)])
    }

    @Test func usersCannotChangeKeysOfOthers() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.registerKeyed("bob1", as: "bob")
        let key = try await fixture.keys(of: "bob", as: "alice")
        #expect(await fixture.put(device.id, "carol1", as: "carol").status == .gone)
        _ = try await fixture.registerKeyed("carol1", as: "carol", id: device.id)
        #expect(try await fixture.keys(of: "bob", as: "alice") == key)
        #expect(try await fixture.keys(of: "carol", as: "alice").isEmpty)
    }

    @Test func aRegistrationThatIsGivenAnotherUsersTagBringsThatUserNoKey() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.registerKeyed("carol1", as: "carol")
        let registration = try #require(try await fixture.registration(device.id))
        // As anyone who holds a Listen key of the hub can.
        _ = try await fixture.devices.put(
            device.id, in: try #require(fixture.hubs.all.first).id, platform: registration.platform,
            handle: registration.handle, tags: registration.tags + [Tag("username:bob")])
        #expect(try await fixture.keys(of: "bob", as: "alice").isEmpty)
        #expect(try await fixture.keys(of: "carol", as: "alice").count == 1)
    }

    @Test func aKeyGoesWithItsRegistration() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.registerKeyed("bob1", as: "bob")
        _ = try await fixture.register("bob1", as: "carol")
        #expect(try await fixture.keys(of: "bob", as: "alice").isEmpty)
        let other = try await fixture.registerKeyed("bob2", as: "bob")
        #expect(await fixture.ask(.delete, "/api/register/" + other.id, as: "bob").status == .ok)
        #expect(try await fixture.keys(of: "bob", as: "alice").isEmpty)
        #expect(try await fixture.registration(device.id) == nil)
    }

    @Test(
        arguments: [
            ("7", point, nil), ("7", nil, secret), ("7", "", ""), ("7", point, "AAAA"), ("7", "AAAA", secret),
            ("7", point + "=", secret), ("7", point, secret + "=="), ("7", "+" + point.dropFirst(), secret),
            // Off the curve, compressed, and the point at infinity.
            ("7", String(point.dropLast()) + "E", secret),
            ("7", Base64URL.encode([2] + (Base64URL.decode(point) ?? [])[1...32]), secret), ("7", "AA", secret),
            ("A", point, secret), ("a%7Cb", point, secret),
        ] as [(String, String?, String?)])
    func aBadKeyIsRefusedAndNothingIsRegistered(id: String, key: String?, secret: String?) async throws {
        let fixture = try await Fixture()
        var body: [String: JSON] = ["Platform": "pigeon", "Handle": "bob1"]
        body["PublicKey"] = key.map(JSON.string)
        body["AuthSecret"] = secret.map(JSON.string)
        let response = await fixture.ask(.put, "/api/register/" + id, as: "bob", JSON.object(body).text)
        #expect(response.status == .badRequest)
        #expect(try response.json["code"] == 40013)
        #expect(response.message.hasSuffix("."))
        #expect(try await fixture.registration(id) == nil)
    }

    @Test func theKeyOfTheTestIsOne() async throws {
        let fixture = try await Fixture()
        let body: JSON = [
            "Platform": "pigeon", "Handle": "bob1", "publickey": .string(Self.point),
            "AUTHSECRET": .string(Self.secret),
        ]
        #expect(await fixture.ask(.put, "/api/register/7", as: "bob", body.text).status == .ok)
        #expect(try await fixture.keys(of: "bob", as: "bob").count == 1)
    }
}
