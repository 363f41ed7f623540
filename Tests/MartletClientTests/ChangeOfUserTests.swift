import MartletModel
import Synchronization
import Testing

@testable import MartletClient

/// Users log in and out while something is under way: nothing is done in another's name, and nothing left behind.
struct ChangeOfUserTests {
    /// Does something once, when it is asked the first time for what it waits for.
    final class Once: Sendable {
        private let work = Mutex<(@Sendable () async -> Void)?>(nil)

        func set(_ work: @escaping @Sendable () async -> Void) { self.work.withLock { $0 = work } }

        func run() async {
            let work = work.withLock { work in
                defer { work = nil }
                return work
            }
            await work?()
        }
    }

    /// An identity provider whose user comes and goes.
    final class Provider: TokenProvider {
        struct Unreachable: Error {}

        private let present: Mutex<Result<String?, Unreachable>>

        init(_ token: String?) { present = Mutex(.success(token)) }

        func set(_ token: String?) { present.withLock { $0 = .success(token) } }
        func fail() { present.withLock { $0 = .failure(Unreachable()) } }
        func token(insteadOf refused: String?) throws -> String? { try present.withLock { $0 }.get() }
    }

    let credentials = KeptCredentials()
    let ids = KeptID()

    func client(
        _ server: any ClientTransport, tokens: (any TokenProvider)? = nil, attempts: Int = 1, keepsTrying: Bool = false,
        sleep: @escaping @Sendable () async -> Void = {}
    ) throws -> PushClient {
        PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(credentials: credentials.store, registration: ids.store), tokens: tokens,
            retry: RetryPolicy(attempts: attempts, keepsTrying: keepsTrying),
            environment: ClientEnvironment(sleep: { _ in await sleep() }, chance: { 1 }))
    }

    @Test func aMessageThatWaitsIsNotSentByTheNextUser() async throws {
        let server = ScriptedServer(.session("A"), .offline, .session("B"))
        let once = Once()
        let client = try client(server, attempts: 3) { await once.run() }
        once.set { try? await client.logIn(user: "bob", password: "other") }
        await credentials.save(Credentials(user: "alice", password: "secret"))
        let error = await #expect(throws: PushClientError.self) {
            try await client.send("hi", to: "carol", platform: "apns")
        }
        #expect(error?.kind == .superseded)
        #expect(server.requests.compactMap { $0.fields["authorization"] } == ["Bearer A"])
    }

    @Test func aLogOutDuringALogInWins() async throws {
        let once = Once()
        let server = ActingServer { _ in
            await once.run()
            return nil
        }
        let client = try client(server)
        once.set { await client.logOut() }
        let error = await #expect(throws: PushClientError.self) {
            try await client.logIn(user: "alice", password: "secret")
        }
        #expect(error?.kind == .superseded)
        #expect(await client.user == nil)
        await client.resume()
        #expect(server.lines == ["POST /api/sessions", "DELETE /api/sessions"], "the session is not left open")
        #expect(await credentials.store.load() == nil)
    }

    @Test func theLaterOfTwoLogInsWins() async throws {
        let once = Once()
        let server = ActingServer { _ in
            await once.run()
            return nil
        }
        let client = try client(server)
        once.set { try? await client.logIn(user: "bob", password: "other") }
        let error = await #expect(throws: PushClientError.self) {
            try await client.logIn(user: "alice", password: "secret")
        }
        #expect(error?.kind == .superseded)
        #expect(await client.user == "bob")
    }

    @Test func aFirstRegistrationDuringALogOutIsNotMade() async throws {
        let once = Once()
        let server = ActingServer { _ in
            await once.run()
            return nil
        }
        let client = try client(server, tokens: Provider("A"))
        once.set { await client.logOut() }
        let error = await #expect(throws: PushClientError.self) {
            try await client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .superseded)
        #expect(server.lines == ["POST /api/register?handle=01"])
        #expect(await ids.store.load() == nil)
        #expect(await client.registrationState == .unregistered)
    }

    @Test func aRegistrationThatIsMadeDuringALogOutIsRemoved() async throws {
        let once = Once()
        let server = ActingServer { line in
            if line.hasPrefix("PUT") { await once.run() }
            return nil
        }
        let client = try client(server, tokens: Provider("A"))
        let ids = ids
        let out = Mutex<Task<Void, Never>?>(nil)
        once.set {
            // It waits for the registration, so it cannot be waited for here.
            out.withLock { $0 = Task { await client.logOut() } }
            while await ids.store.load() != nil { await Task.yield() }
        }
        try? await client.register(deviceToken: [1], platform: "apns")
        await out.withLock { $0 }?.value
        #expect(server.lines.last == "DELETE /api/register/7")
        #expect(await credentials.store.load() == nil)
    }

    @Test func anUnregistrationIsStillDueAfterTheRegistrationBeforeIt() async throws {
        let once = Once()
        let server = ActingServer { line in
            if line.hasPrefix("PUT") { await once.run() }
            return line.hasPrefix("DELETE") ? .offline : nil
        }
        let client = try client(server, tokens: Provider("A"))
        let ids = ids
        let removal = Mutex<Task<Void, Never>?>(nil)
        once.set {
            removal.withLock { $0 = Task { try? await client.unregister() } }
            while await ids.record().due != .unregister { await Task.yield() }
        }
        try? await client.register(deviceToken: [1], platform: "apns")
        await removal.withLock { $0 }?.value
        #expect(await ids.record() == RegistrationRecord(id: "7", due: .unregister))
    }

    @Test func aPasswordDoesNotOutliveTheLogOutOnAFullDisk() async throws {
        /// Takes nothing new, as a full disk; what is there can be removed.
        actor FullStore: CredentialStore {
            private var value: [UInt8]?
            init(_ value: [UInt8]?) { self.value = value }
            func load() -> [UInt8]? { value }
            func save(_ value: [UInt8]?) { if value == nil { self.value = nil } }
        }
        await credentials.save(Credentials(user: "alice", password: "secret"))
        let store = FullStore(await credentials.store.load())
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: ScriptedServer(.offline),
            stores: ClientStores(credentials: store, registration: KeptID("7").store),
            retry: RetryPolicy(keepsTrying: false))
        #expect(await client.user == "alice")
        await client.logOut()
        #expect(await client.user == nil)
        #expect(await store.load() == nil)
    }

    @Test func aLogOutIsToldWhenTheProviderCanBeReachedAgain() async throws {
        let provider = Provider("A")
        let server = ActingServer { _ in nil }
        let client = try client(server, tokens: provider)
        try await client.register(deviceToken: [1], platform: "apns")
        provider.fail()
        await client.logOut()
        #expect(await credentials.record().departures == [PendingLogOut(registration: "7")])
        await client.resume()
        #expect(await credentials.record().departures.count == 1)
        provider.set("A2")
        await client.resume()
        #expect(server.lines.last == "DELETE /api/register/7")
        #expect(await credentials.store.load() == nil)
    }

    @Test func aRegistrationThatWaitsForTheProvidersUserIsDoneThen() async throws {
        let provider = Provider(nil)
        let server = ActingServer { _ in nil }
        let client = try client(server, tokens: provider, keepsTrying: true)
        let error = await #expect(throws: PushClientError.self) {
            try await client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .logInNeeded)
        provider.set("A")
        await client.loggedIn()
        for await state in await client.registrationStates where state == .registered { break }
        await client.logOut()
        provider.set("B")
        await client.loggedIn()
        for await state in await client.registrationStates where state == .registered { break }
        #expect(server.lines.filter { $0.hasPrefix("PUT") }.count == 2)
    }

    @Test func aLogOutIsKeptThroughEverythingThatMayPass() async throws {
        let phone = try await Phone(ScriptedServer(.answer(429, "", ["retry-after": "60"])), id: "7")
        await phone.client.logOut()
        for entry in [ScriptedServer.Entry.answer(429), .failure(.insecure), .failure(.cancelled)] {
            let later = try Phone(ScriptedServer(entry), after: phone)
            await later.client.resume()
            #expect(later.server.requests.count == 1)
            #expect(await later.credentials.record().departures.count == 1)
        }
        let last = try Phone(ScriptedServer(.session("T"), .ok, .answer(204)), after: phone)
        await last.client.resume()
        #expect(await last.credentials.store.load() == nil)
    }

    @Test func aNetworkThatWantsALogInOfItsOwnDoesNotEndTheRegistration() async throws {
        let phone = try await Phone(
            ScriptedServer(.failure(.insecure), .session("T"), .answer(200, "7"), .ok), retry: RetryPolicy(attempts: 1))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .insecureConnection)
        await phone.reached(.registered)
    }
}
