import MartletModel
import Synchronization
import Testing

@testable import MartletClient

/// What could not be done is done later: registrations and log-outs.
struct BackgroundRetryTests {
    let patient = RetryPolicy(attempts: 1)

    @Test func aRegistrationThatFailedIsDoneInTheBackground() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .offline, .answer(502), .answer(200, "7"), .ok), retry: patient)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .unreachable)
        await phone.reached(.registered)
        #expect(await phone.ids.record() == RegistrationRecord(id: "7"))
        #expect(phone.waits.waits == [.seconds(2), .seconds(4)])
    }

    @Test func aRegistrationThatIsDueSurvivesTheLaunchWithoutItsToken() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .offline), retry: RetryPolicy(attempts: 1, keepsTrying: false))
        await #expect(throws: PushClientError.self) {
            try await phone.client.register(handle: "SECRETHANDLE", platform: "fcm")
        }
        let kept = try #require(await phone.ids.store.load())
        #expect(!String(decoding: kept, as: UTF8.self).contains("SECRETHANDLE"))
        let later = try Phone(ScriptedServer(.session("T"), .answer(200, "7"), .ok), after: phone)
        #expect(await later.client.registrationState == .tokenNeeded)
        await later.client.resume()
        #expect(later.server.requests.isEmpty, "without a token there is nothing to do")
        try await later.client.register(handle: "NEW", platform: "fcm")
        #expect(await later.client.registrationState == .registered)
        #expect(await later.ids.record() == RegistrationRecord(id: "7"))
    }

    @Test func aRegistrationThatWaitsForALogInIsDoneThen() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(200, "7"), .ok), loggedIn: false, retry: patient)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .logInNeeded)
        #expect(await phone.client.registrationState == .logInNeeded)
        try await phone.client.logIn(user: "alice", password: "secret")
        await phone.reached(.registered)
        #expect(phone.server.lines.last == "PUT /api/register/7")
    }

    @Test func theNextUserRegistersTheDeviceAgain() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("A"), .answer(200, "1"), .ok, .ok, .answer(204), .session("B"), .answer(200, "2"), .ok),
            retry: patient)
        try await phone.client.register(deviceToken: [1], platform: "apns", tags: ["news"])
        await phone.client.logOut()
        #expect(await phone.client.registrationState == .unregistered)
        #expect(phone.server.lines[3...4] == ["DELETE /api/register/1", "DELETE /api/sessions"])
        try await phone.client.logIn(user: "bob", password: "other")
        await phone.reached(.registered)
        let last = try #require(phone.server.requests.last)
        #expect(last.fields["authorization"] == "Bearer B")
        #expect(try JSON(parsing: try #require(last.body))["Tags"] == ["news"])
    }

    @Test func aRefusalIsNotTriedOn() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(400)), id: "1", retry: patient)
        await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: [1], platform: "no")
        }
        guard case .refused(let error) = await phone.client.registrationState else {
            Issue.record("the state does not tell of the refusal")
            return
        }
        #expect(error.kind == .refused(status: 400))
        await phone.client.resume()
        #expect(phone.server.requests.count == 2)
    }

    @Test func anUnregistrationOfAnEarlierLaunchIsDone() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(204)), id: "1", due: .unregister)
        await phone.client.resume()
        #expect(phone.server.lines.last == "DELETE /api/register/1")
        #expect(await phone.ids.store.load() == nil)
        #expect(await phone.client.registrationState == .unregistered)
    }

    @Test func aLogOutWithoutNetworkIsTakenUpAtTheNextLaunch() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(200, "7"), .ok, .offline),
            retry: RetryPolicy(attempts: 1, keepsTrying: false))
        try await phone.client.register(deviceToken: [1], platform: "apns")
        await phone.client.logOut()
        let record = await phone.credentials.record()
        #expect(record.credentials == nil)
        #expect(record.departures == [PendingLogOut(registration: "7", token: "T", endsSession: true)])
        #expect(await phone.ids.load() == nil)
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.send("x", to: "b", platform: "p")
        }
        #expect(error?.kind == .logInNeeded)
        let later = try Phone(ScriptedServer(.ok, .answer(204)), after: phone)
        await later.client.resume()
        #expect(later.server.lines == ["DELETE /api/register/7", "DELETE /api/sessions"])
        #expect(later.server.requests.allSatisfy { $0.fields["authorization"] == "Bearer T" })
        #expect(await later.credentials.store.load() == nil, "nothing is left of the user")
    }

    @Test func aLogOutWithoutASessionKeepsThePasswordUntilTheServerKnows() async throws {
        let phone = try await Phone(
            ScriptedServer(.offline), id: "7", retry: RetryPolicy(attempts: 1, keepsTrying: false))
        await phone.client.logOut()
        #expect(await phone.credentials.record().departures.first?.credentials?.user == "alice")
        #expect(await phone.client.user == nil)
        let later = try Phone(ScriptedServer(.session("T"), .ok, .answer(204)), after: phone)
        await later.client.resume()
        #expect(later.server.lines == ["POST /api/sessions", "DELETE /api/register/7", "DELETE /api/sessions"])
        #expect(await later.credentials.store.load() == nil)
    }

    @Test func aUserWhoLogsInAgainBeforeTheLogOutIsSentKeepsTheRegistration() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .offline), id: "7", retry: RetryPolicy(attempts: 1, keepsTrying: false))
        await phone.client.logOut()
        let later = try Phone(
            ScriptedServer(.session("U"), .answer(200, "7"), .ok, .answer(204), .answer(204)), after: phone)
        try await later.client.logIn(user: "alice", password: "secret")
        try await later.client.register(deviceToken: [1], platform: "apns")
        await later.client.resume()
        #expect(!later.server.lines.contains("DELETE /api/register/7"))
        #expect(await later.credentials.record().departures.isEmpty)
    }

    @Test func aSystemWithoutATokenIsAskedAgainAfterAWhile() async throws {
        struct NoNetwork: Error {}
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, "7"), .ok), retry: patient)
        let asked = Mutex(0)
        let client = phone.client
        await client.registrationFailed(NoNetwork()) {
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            guard count == 3 else { return }
            try? await client.register(deviceToken: [1], platform: "apns")
        }
        await phone.reached(.registered)
        #expect(asked.withLock { $0 } == 3)
        #expect(phone.waits.waits.prefix(3) == [.seconds(2), .seconds(4), .seconds(8)])
        #expect(phone.server.requests.count == 3)
    }

    @Test func aFailureOfTheSystemIsKnownAtTheNextLaunch() async throws {
        struct NoNetwork: Error {}
        let phone = try await Phone(ScriptedServer(), id: "7")
        await phone.client.registrationFailed(NoNetwork()) {}
        #expect(await phone.client.registrationState == .tokenNeeded)
        #expect(try await Phone(ScriptedServer(), after: phone).client.registrationState == .tokenNeeded)
    }

    @Test func waitsInTheBackgroundGrowToAQuarterOfAnHourAndAreNeverShort() {
        let policy = RetryPolicy()
        #expect((1...4).map { policy.backgroundWait(after: $0, chance: 0) } == [1, 2, 4, 8].map { .seconds($0) })
        #expect(policy.backgroundWait(after: 60, chance: 1) == .seconds(900))
        var backgroundRetries = BackgroundRetries()
        let failure = RetryableFailure(error: .superseded, shortestWait: .seconds(3600))
        #expect(backgroundRetries.end(failure, retry: policy, chance: 1) == .seconds(3600))
        backgroundRetries.isWanted = true
        #expect(backgroundRetries.end(failure, retry: policy, chance: 1) == .zero)
        backgroundRetries.isWanted = false
        #expect(backgroundRetries.end(nil, retry: policy, chance: 1) == nil)
        #expect(backgroundRetries.failures == 0)
    }
}
