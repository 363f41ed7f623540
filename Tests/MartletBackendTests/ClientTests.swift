import MartletClient
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

/// The SDK against the backend, without a network between them.
struct ClientTests {
    /// Hands the SDK's requests to the backend.
    struct Wire: ClientTransport {
        let handler: any HTTPHandler

        func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
            let target = String(request.url.dropFirst("https://push.example.org".utf8.count))
            let fields = HTTPFields(request.fields.map { HTTPField($0.key, $0.value) })
            let response = await handler.respond(
                to: HTTPRequest(HTTPMethod(rawValue: request.method), target, fields: fields, body: request.body ?? []))
            var names: [String: String] = [:]
            for field in response.fields { names[field.name] = field.value }
            return ClientResponse(status: response.status.code, fields: names, body: response.bytes)
        }
    }

    func phone(_ fixture: Fixture, _ ids: MemoryStore = MemoryStore()) throws -> PushClient {
        PushClient(
            server: try ServerAddress("https://push.example.org"), transport: Wire(handler: fixture.handler),
            stores: ClientStores(registration: ids), retry: RetryPolicy(attempts: 1, keepsTrying: false))
    }

    /// The id that a phone has kept.
    func id(_ store: MemoryStore) async throws -> String? {
        try await store.load().flatMap { try JSON(parsing: $0)["id"]?.string }
    }

    /// What a device of this token is registered as.
    let token: [UInt8] = [0xAB, 0xCD]
    let platform: Platform = "pigeon"

    @Test func aUserRegistersAndIsNotified() async throws {
        let fixture = try await Fixture()
        let alice = try phone(fixture)
        try await alice.logIn(user: "alice", password: "alice1")
        try await alice.register(deviceToken: token, platform: platform, tags: ["news"])
        let bob = try phone(fixture)
        try await bob.logIn(user: "Bob", password: "bob1")
        let id = try await bob.send("hello \"world\" 👋", to: "Alice", platform: platform)
        let delivery = try #require(fixture.sent.deliveries.first)
        #expect(delivery.notification.id.description == id)
        #expect(delivery.notification.content.body == Array("From bob: hello \"world\" 👋".utf8))
        #expect(try await fixture.audience(of: delivery) == ["ABCD"])
    }

    @Test func aPhoneThatChangesHandsGetsARegistrationOfItsOwn() async throws {
        let fixture = try await Fixture()
        let ids = MemoryStore()
        let phone = try phone(fixture, ids)
        try await phone.logIn(user: "alice", password: "alice1")
        try await phone.register(deviceToken: token, platform: platform)
        let alices = try #require(try await id(ids))
        try await phone.logIn(user: "bob", password: "bob1")
        try await phone.register(deviceToken: token, platform: platform)
        let bobs = try #require(try await id(ids))
        #expect(alices != bobs)
        #expect(try await fixture.registration(alices) == nil)
        #expect(try await fixture.registration(bobs)?.tags.map(\.folded) == ["username:bob"])
        #expect(await fixture.put(alices, "abcd", as: "alice").status == .gone)
    }

    @Test func aRegistrationThatWasRemovedIsMadeAnew() async throws {
        let fixture = try await Fixture()
        let ids = MemoryStore()
        let phone = try phone(fixture, ids)
        try await phone.logIn(user: "alice", password: "alice1")
        try await phone.register(deviceToken: token, platform: platform)
        let first = try #require(try await id(ids))
        #expect(await fixture.ask(.delete, "/api/register/" + first, as: "alice").status == .ok)
        try await phone.register(deviceToken: token, platform: platform)
        let second = try #require(try await id(ids))
        #expect(second != first)
        #expect(try await fixture.registration(second) != nil)
    }

    @Test func aPhoneThatForgotItsIDFindsItAgain() async throws {
        let fixture = try await Fixture()
        let ids = MemoryStore()
        let phone = try phone(fixture, ids)
        try await phone.logIn(user: "alice", password: "alice1")
        try await phone.register(deviceToken: token, platform: platform)
        let before = try await id(ids)
        await ids.save(nil)
        try await phone.register(deviceToken: token, platform: platform)
        #expect(try await id(ids) == before)
    }

    @Test func anUnregisteredPhoneHearsNothing() async throws {
        let fixture = try await Fixture()
        let phone = try phone(fixture)
        try await phone.logIn(user: "alice", password: "alice1")
        try await phone.register(deviceToken: token, platform: platform)
        try await phone.unregister()
        try await phone.send("x", to: "alice", platform: platform)
        #expect(try await fixture.audience(of: fixture.sent.deliveries[0]).isEmpty)
    }

    @Test func anEndedSessionIsRenewedAndAChangedPasswordAsksForTheUser() async throws {
        let fixture = try await Fixture(settings: BackendSettings(sessionLifetime: .seconds(60)))
        let phone = try phone(fixture)
        try await phone.logIn(user: "alice", password: "alice1")
        fixture.time.advance(by: .seconds(61))
        try await phone.send("x", to: "bob", platform: platform)
        try await fixture.users.add("alice", password: "changed")
        let error = await #expect(throws: PushClientError.self) {
            try await phone.send("x", to: "bob", platform: platform)
        }
        #expect(error?.kind == .logInNeeded)
    }

    @Test func errorsTellTheAppWhatToShow() async throws {
        let fixture = try await Fixture()
        let phone = try phone(fixture)
        let wrong = await #expect(throws: PushClientError.self) { try await phone.logIn(user: "alice", password: "x") }
        #expect(wrong?.kind == .wrongPassword)
        try await phone.logIn(user: "alice", password: "alice1")
        let long = await #expect(throws: PushClientError.self) {
            try await phone.send(String(repeating: "x", count: 2000), to: "bob", platform: platform)
        }
        #expect(long?.kind == .messageTooLong)
        #expect(long?.message.contains("1000") == true)
        let tag = await #expect(throws: PushClientError.self) {
            try await phone.register(deviceToken: token, platform: platform, tags: ["username:bob"])
        }
        #expect(tag?.kind == .refused(status: 400))
        await phone.logOut()
        let out = await #expect(throws: PushClientError.self) {
            try await phone.send("x", to: "bob", platform: platform)
        }
        #expect(out?.kind == .logInNeeded)
    }
}
