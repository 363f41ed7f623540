import MartletModel
import Testing

@testable import MartletClient

struct LogInTests {
    @Test func loggingInOpensASessionAndKeepsTheCredentials() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, ["id": "7"])), loggedIn: false)
        try await phone.client.logIn(user: "alice", password: "secret")
        #expect(await phone.credentials.load() == Credentials(user: "alice", password: "secret"))
        #expect(try await phone.client.send("hi", to: "bob", platform: "apns") == "7")
        #expect(phone.server.lines[0] == "POST /api/sessions")
        #expect(
            phone.server.requests[0].body.map { String(decoding: $0, as: UTF8.self) }
                == #"{"password":"secret","user":"alice"}"#)
        #expect(phone.server.requests[1].fields["authorization"] == "Bearer T")
    }

    @Test func aWrongPasswordIsToldAndNotKept() async throws {
        let phone = try await Phone(ScriptedServer(.answer(401)), loggedIn: false)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.logIn(user: "alice", password: "no")
        }
        #expect(error?.kind == .wrongPassword)
        #expect(await phone.credentials.load() == nil)
    }

    @Test func tooManyFailuresAreToldAtOnceWithTheirWait() async throws {
        let phone = try await Phone(ScriptedServer(.answer(429, "", ["retry-after": "31"])), loggedIn: false)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.logIn(user: "alice", password: "no")
        }
        #expect(error?.kind == .tooManyAttempts(retryAfter: .seconds(31)))
        #expect(phone.waits.waits.isEmpty)
    }

    @Test func withoutCredentialsTheAppIsToldToAskForThem() async throws {
        let phone = try await Phone(ScriptedServer(), loggedIn: false)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.send("hi", to: "bob", platform: "apns")
        }
        #expect(error?.kind == .logInNeeded)
        #expect(phone.server.requests.isEmpty)
    }

    @Test func aSessionThatEndedIsRenewedOnce() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("A"), .answer(401), .session("B"), .answer(200, ["id": "7"])))
        try await phone.client.send("hi", to: "bob", platform: "apns")
        #expect(phone.server.requests.map { $0.fields["authorization"] } == [nil, "Bearer A", nil, "Bearer B"])
        let refused = try await Phone(ScriptedServer(.session("A"), .answer(401), .session("B"), .answer(401)))
        let error = await #expect(throws: PushClientError.self) {
            try await refused.client.send("hi", to: "bob", platform: "apns")
        }
        #expect(error?.kind == .logInNeeded)
        #expect(refused.server.requests.count == 4)
    }

    @Test func aSessionRenewedForWhoHasLoggedOutMeanwhileIsNotUsed() async throws {
        let server = InterruptedServer()
        let credentials = KeptCredentials()
        await credentials.save(Credentials(user: "alice", password: "secret"))
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(credentials: credentials.store), retry: RetryPolicy(attempts: 1))
        server.interrupt { try? await client.logIn(user: "bob", password: "other") }
        let error = await #expect(throws: PushClientError.self) {
            try await client.send("hi", to: "carol", platform: "apns")
        }
        #expect(error?.kind == .superseded)
        try await client.send("hello", to: "carol", platform: "apns")
        #expect(server.tokens == ["bob"], "nothing went out in anybody else's name")
        #expect(await credentials.load()?.user == "bob")
    }

    @Test func credentialsThatAreWrongNowAreForgotten() async throws {
        let phone = try await Phone(ScriptedServer(.session("A"), .answer(401), .answer(401)))
        let error = await #expect(throws: PushClientError.self) { try await phone.client.unregisterAfterSend() }
        #expect(error?.kind == .logInNeeded)
        #expect(await phone.credentials.load() == nil)
    }

    @Test func loggingOutEndsTheSessionAndForgets() async throws {
        let phone = try await Phone(ScriptedServer(.session("A"), .answer(204)), loggedIn: false)
        try await phone.client.logIn(user: "alice", password: "secret")
        await phone.client.logOut()
        #expect(phone.server.lines[1] == "DELETE /api/sessions")
        #expect(await phone.credentials.load() == nil)
        await phone.client.logOut()
        #expect(phone.server.requests.count == 2)
    }

    @Test func nothingShowsAPasswordOrAToken() async throws {
        let credentials = Credentials(user: "alice", password: "hunter2")
        #expect(!"\(credentials) \(String(reflecting: credentials))".contains("hunter2"))
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        let request = ClientRequest("POST", "https://x/?handle=AABB", fields: ["authorization": "Bearer T0KEN"])
        #expect(!"\(request)".contains("T0KEN") && !"\(request)".contains("AABB"))
    }
}

extension PushClient {
    fileprivate func unregisterAfterSend() async throws(PushClientError) {
        try await send("hi", to: "bob", platform: "apns")
        try await unregister()
    }
}
