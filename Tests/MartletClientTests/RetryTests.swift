import MartletModel
import Synchronization
import Testing

@testable import MartletClient

struct RetryTests {
    @Test func waitsDoubleUpToALimitAndAreDrawnAtRandom() {
        let policy = RetryPolicy(attempts: 9, firstWait: .seconds(2), longestWait: .seconds(20))
        #expect((1...5).map { policy.wait(after: $0, chance: 1) } == [2, 4, 8, 16, 20].map { .seconds($0) })
        #expect(policy.wait(after: 3, chance: 0.5) == .seconds(4))
        #expect(policy.wait(after: 3, chance: 0) == .zero)
        #expect(policy.wait(after: 1000, chance: 1) == .seconds(20))
    }

    @Test func temporaryFailuresAreRetried() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("T"), .failure(.unreachable), .failure(.timedOut), .answer(500), .answer(502), .ok), id: "1")
        try await phone.client.register(deviceToken: [1], platform: "apns")
        #expect(phone.waits.waits == [2, 4, 8, 16].map { .seconds($0) })
    }

    @Test func theServersOwnWaitIsObeyed() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(503, "", ["retry-after": "9"]), .ok), id: "1", chance: 0)
        try await phone.client.register(deviceToken: [1], platform: "apns")
        #expect(phone.waits.waits == [.seconds(9)])
        let long = try await Phone(
            ScriptedServer(.session("T"), .answer(503, "", ["retry-after": "3600"])), id: "1")
        await #expect(throws: PushClientError.self) {
            try await long.client.register(deviceToken: [1], platform: "apns")
        }
        #expect(long.waits.waits.isEmpty)
    }

    @Test func attemptsEnd() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(500), .answer(500), .answer(500)), id: "1",
            retry: RetryPolicy(attempts: 3, keepsTrying: false))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .serverProblem(status: 500))
        #expect(phone.server.requests.count == 4)
    }

    @Test func aMessageIsNeverSentTwiceUnknowingly() async throws {
        for entry in [ScriptedServer.Entry.failure(.timedOut), .failure(.unreachable), .answer(500), .answer(504)] {
            let phone = try await Phone(ScriptedServer(.session("T"), entry, .answer(200, ["id": "7"])))
            await #expect(throws: PushClientError.self) {
                try await phone.client.send("hi", to: "bob", platform: "apns")
            }
            #expect(phone.server.requests.count == 2)
        }
        for entry in [ScriptedServer.Entry.failure(.unreachable, mayHaveBeenProcessed: false), .answer(503)] {
            let phone = try await Phone(ScriptedServer(.session("T"), entry, .answer(200, ["id": "7"])))
            #expect(try await phone.client.send("hi", to: "bob", platform: "apns") == "7")
        }
    }

    @Test func openingASessionIsSafeToRepeatEvenForAMessage() async throws {
        let phone = try await Phone(ScriptedServer(.failure(.timedOut), .session("T"), .answer(200, ["id": "7"])))
        #expect(try await phone.client.send("hi", to: "bob", platform: "apns") == "7")
    }

    @Test func aConnectionThatIsNotSecureIsNotTriedAgain() async throws {
        let phone = try await Phone(ScriptedServer(.failure(.insecure)))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.send("hi", to: "bob", platform: "apns")
        }
        #expect(error?.kind == .insecureConnection)
        #expect(phone.waits.waits.isEmpty)
    }

    @Test func aTooLongMessageIsToldAsSuch() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(413, ["message": "At most 9 bytes."])))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.send("hi", to: "bob", platform: "apns")
        }
        #expect(error?.kind == .messageTooLong)
        #expect(error?.message == "At most 9 bytes.")
    }

    /// While one registration waits for its next attempt, the app gets another token and registers that.
    @Test func aLaterTokenTakesTheEarlierOnesPlace() async throws {
        let server = ScriptedServer(.session("T"), .answer(500), .ok)
        let later = Mutex<PushClient?>(nil)
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(registration: KeptID("1").store), tokens: nil,
            retry: RetryPolicy(keepsTrying: false),
            environment: ClientEnvironment(
                sleep: { _ in
                    try await later.withLock { $0 }?.register(deviceToken: [2], platform: "apns")
                }, chance: { 1 }))
        later.withLock { $0 = client }
        try await client.logIn(user: "alice", password: "secret")
        let error = await #expect(throws: PushClientError.self) {
            try await client.register(deviceToken: [1], platform: "apns")
        }
        #expect(error?.kind == .superseded)
        let last = try JSON(parsing: try #require(server.requests.last?.body))
        #expect(last["Handle"] == "02")
        #expect(server.requests.count == 3)
    }
}
