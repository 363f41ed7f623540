import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct RegisterTests {
    @Test("Trap 40: an id is a JSON string with its quotes, unless text is asked for")
    func anIDIsAJSONStringUnlessTextIsAskedFor() async throws {
        let fixture = try await Fixture()
        let quoted = await fixture.ask(.post, "/api/register", as: "alice")
        #expect(quoted.fields["content-type"]?.hasPrefix("application/json") == true)
        #expect(quoted.bytes.first == UInt8(ascii: "\"") && quoted.bytes.last == UInt8(ascii: "\""))
        let any = await fixture.ask(.post, "/api/register", as: "alice", fields: ["accept": "*/*"])
        #expect(any.bytes.first == UInt8(ascii: "\""))
        let both = await fixture.ask(
            .post, "/api/register", as: "alice", fields: ["accept": "application/json, text/plain, */*"])
        #expect(both.bytes.first == UInt8(ascii: "\""))
        let plain = await fixture.ask(.post, "/api/register", as: "alice", fields: ["accept": "text/plain; q=0.9"])
        #expect(plain.fields["content-type"]?.hasPrefix("text/plain") == true)
        #expect(plain.bytes.first != UInt8(ascii: "\"") && !plain.bytes.isEmpty)
    }

    @Test func aRegistrationHasTheTagsAskedForAndTheUsersOwn() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.newID(as: "Alice")
        let response = await fixture.put(id, "Loft1", as: "Alice", tags: ["news", "NEWS", "sport"])
        #expect(response.status == .ok)
        #expect(response.bytes.isEmpty)
        let registration = try #require(try await fixture.registration(id))
        #expect(Set(registration.tags.map(\.folded)) == ["username:alice", "news", "sport"])
        #expect(registration.handle.text == "Loft1")
    }

    @Test(arguments: [
        #"{"platform":"pigeon","handle":"a1","tags":["x"]}"#, #"{"PLATFORM":"Dove","HANDLE":"a1"}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":null}"#, #"{"Platform":"pigeon","Handle":"a1","Tags":[],"More":1}"#,
    ])
    func namesComeInAnyCase(body: String) async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.put, "/api/register/1", as: "alice", body).status == .ok)
        #expect(try await fixture.registration("1")?.platform.rawValue == "pigeon")
    }

    @Test(arguments: [
        "", "null", "[]", "{", #"{"Platform":"pigeon"}"#, #"{"Handle":"a1"}"#,
        #"{"Platform":"owl","Handle":"a1"}"#, #"{"Platform":"pigeon","Handle":""}"#,
        #"{"Platform":"pigeon","Handle":"a\n1"}"#, #"{"Platform":"pigeon","Handle":"not a loft"}"#,
        #"{"Platform":"pigeon","Handle":1}"#, #"{"Platform":"pigeon","Handle":"a1","Tags":"x"}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":[1]}"#, #"{"Platform":"pigeon","Handle":"a1","Tags":["a b"]}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":["username:bob"]}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":["UserName:Alice"]}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":["FROM:bob"]}"#,
        #"{"Platform":"pigeon","Handle":"a1","Tags":["$UserId:{bob}"]}"#,
        #"{"Platform":"pigeon","handle":"a1","Handle":"a2"}"#,
    ])
    func aBadRegistrationIsRefusedInASentenceAndNothingIsStored(body: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.put, "/api/register/1", as: "alice", body)
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
        #expect(try await fixture.registration("1") == nil)
    }

    @Test func thereIsRoomForTheUsersTagBesideTheOthers() async throws {
        let fixture = try await Fixture()
        let tags = (1...60).map { "t\($0)" }
        #expect(await fixture.put("1", "a1", as: "alice", tags: Array(tags.prefix(59))).status == .ok)
        #expect(await fixture.put("2", "a2", as: "alice", tags: tags).status == .badRequest)
    }

    @Test func anIDIsFoundAgainByItsHandleAndSparesGo() async throws {
        let fixture = try await Fixture()
        let hub = try #require(fixture.hubs.all.first)
        let devices = DeviceRegistry(store: fixture.storage, platforms: fixture.platforms, time: fixture.time)
        let tag = try UserName("alice").tag
        for id in ["first", "second", "third"] {
            fixture.time.advance(by: .seconds(1))
            _ = try await devices.put(
                id, in: hub.id, platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("Loft9"), tags: [tag])
        }
        #expect(try await fixture.newID(as: "alice", handle: "lOFT9") == "first")
        #expect(try await fixture.registration("second") == nil)
        #expect(try await fixture.registration("third") == nil)
        #expect(try await fixture.registration("first") != nil)
    }

    @Test func askingForAnIDNeverTouchesAnotherUsersRegistration() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.register("loft1", as: "alice")
        let other = try await fixture.newID(as: "bob", handle: "loft1")
        #expect(other != id)
        #expect(try await fixture.registration(id) != nil)
    }

    @Test func aMissingHandleGivesAnIDAndAnImpossibleOneASentence() async throws {
        let fixture = try await Fixture()
        #expect(try await fixture.newID(as: "alice", handle: "") != "")
        let response = await fixture.ask(.post, "/api/register?handle=no%20loft", as: "alice")
        #expect(response.status == .badRequest)
        #expect(response.message.contains("loft"))
    }

    @Test func aHandleChangesHands() async throws {
        let fixture = try await Fixture()
        let alices = try await fixture.register("loft1", as: "alice")
        let bobs = try await fixture.newID(as: "bob", handle: "LOFT1")
        #expect(await fixture.put(bobs, "LOFT1", as: "bob").status == .ok)
        #expect(try await fixture.registration(alices) == nil)
        #expect(await fixture.put(alices, "loft1", as: "alice").status == .gone)
        #expect(try await fixture.registration(bobs)?.tags.map(\.folded) == ["username:bob"])
    }

    @Test func anotherUsersIDIsGoneToMeAndUnchanged() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.register("loft1", as: "alice", tags: ["news"])
        let stolen = await fixture.put(id, "loft2", as: "bob")
        #expect(stolen.status == .gone)
        #expect(await fixture.ask(.delete, "/api/register/" + id, as: "bob").status == .notFound)
        #expect(try await fixture.registration(id)?.handle.text == "loft1")
        #expect(try await fixture.registration(id)?.tags.contains(try Tag("news")) == true)
        let deleted = try await fixture.register("loft3", as: "alice")
        _ = await fixture.ask(.delete, "/api/register/" + deleted, as: "alice")
        #expect(await fixture.put(deleted, "loft2", as: "bob").bytes == stolen.bytes)
    }

    @Test func aDeletedRegistrationIsGone() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.register("loft1", as: "alice")
        #expect(await fixture.ask(.delete, "/api/register/" + id, as: "alice").status == .ok)
        #expect(await fixture.ask(.delete, "/api/register/" + id, as: "alice").status == .notFound)
        #expect(await fixture.ask(.delete, "/api/register/unknown", as: "alice").status == .notFound)
        #expect(await fixture.put(id, "loft1", as: "alice").status == .gone)
        let fresh = try await fixture.newID(as: "alice")
        #expect(await fixture.put(fresh, "loft1", as: "alice").status == .ok)
    }

    @Test func registeringTwiceIsRegisteringOnce() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.register("loft1", as: "alice")
        #expect(await fixture.put(id, "loft1", as: "alice").status == .ok)
        #expect(try await fixture.registration(id)?.version == 2)
    }

    @Test func theUsersOfAHubAreTold() async throws {
        let none = try await Fixture(hubs: [])
        let missing = try await Fixture(hubs: ["a"], hubName: "z")
        for fixture in [none, missing] {
            let response = await fixture.ask(.post, "/api/register", as: "alice")
            #expect(response.status == .serviceUnavailable)
            #expect(response.message.contains("hub"))
        }
        let named = try await Fixture(hubs: ["a", "b"], hubName: "B")
        #expect(await named.ask(.post, "/api/register", as: "alice").status == .ok)
    }

    @Test func theBackendKeepsItsHub() async throws {
        let fixture = try await Fixture(hubs: ["a"])
        let id = try await fixture.register("loft1", as: "alice")
        _ = try await fixture.hubs.create("0")
        #expect(await fixture.put(id, "loft2", as: "alice").status == .ok)
        let hub = BackendHub(fixture.hubs)
        #expect(hub.obstacle == nil)
        try await fixture.hubs.reload()
        #expect(try hub.hub().name == "a", "a restart does not change it")
        // The other hub may have other users' devices: it does not take the place of the deleted one.
        try await fixture.hubs.delete("a")
        let response = await fixture.ask(.post, "/api/register", as: "alice")
        #expect(response.status == .serviceUnavailable)
        #expect(response.message.contains("--backend-hub"))
        #expect(hub.obstacle == response.message)
        _ = try await fixture.hubs.create("a")
        #expect(hub.obstacle == response.message, "a new hub with the old name is another hub")
        try await fixture.hubs.chooseBackendHub(named: "A")
        #expect(try hub.hub().name == "a")
        for name in ["a", "0"] { try await fixture.hubs.delete(name) }
        #expect(hub.obstacle == nil, "without any hub there is nothing to choose")
        _ = try await fixture.hubs.create("new")
        #expect(try hub.hub().name == "new")
    }

    @Test func whatIsNotThereIsAnsweredInTheSameForm() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.ask(.get, "/api/nothing").status == .notFound)
        let response = await fixture.ask(.get, "/api/register/1")
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["allow"] == "PUT, DELETE")
        #expect(await fixture.ask(.get, "/api/%zz").status == .badRequest)
        #expect(await fixture.ask(.post, "/API/Register/", as: "alice").status == .ok)
    }
}
