import MartletModel
import Synchronization
import Testing

@testable import MartletClient

struct TokenTests {
    /// Hands out tokens of a list, and the last one again until it is refused.
    final class Provider: TokenProvider {
        struct Unreachable: Error {}

        private let tokens: Mutex<[String?]>
        let isReachable: Bool

        init(_ tokens: [String?], isReachable: Bool = true) {
            self.tokens = Mutex(tokens)
            self.isReachable = isReachable
        }

        func token(insteadOf refused: String?) throws -> String? {
            guard isReachable else { throw Unreachable() }
            return tokens.withLock { tokens in
                if refused != nil { tokens.removeFirst() }
                return tokens.first ?? nil
            }
        }
    }

    @Test func requestsCarryTheProvidersToken() async throws {
        let phone = try await Phone(
            ScriptedServer(.answer(200, ["id": "1"]), .answer(401), .answer(200, ["id": "2"])),
            tokens: Provider(["A", "B"]))
        try await phone.client.send("hi", to: "bob", platform: "apns")
        #expect(try await phone.client.send("hi", to: "bob", platform: "apns") == "2")
        #expect(phone.server.requests.map { $0.fields["authorization"] } == ["Bearer A", "Bearer A", "Bearer B"])
        #expect(await phone.credentials.store.load() == nil, "the server knows no password")
    }

    @Test func withoutATokenSomebodyHasToLogIn() async throws {
        for (tokens, script) in [
            ([nil], ScriptedServer()), (["A", nil], ScriptedServer(.answer(401))),
            (["A", "A"], ScriptedServer(.answer(401))), (["A", "B"], ScriptedServer(.answer(401), .answer(401))),
        ] {
            let phone = try await Phone(script, tokens: Provider(tokens))
            let error = await #expect(throws: PushClientError.self) {
                try await phone.client.send("hi", to: "bob", platform: "apns")
            }
            #expect(error?.kind == .logInNeeded)
        }
    }

    @Test func aProviderThatCannotTellIsAskedAgain() async throws {
        let phone = try await Phone(ScriptedServer(), tokens: Provider([], isReachable: false))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.send("hi", to: "bob", platform: "apns")
        }
        #expect(error?.kind == .unreachable)
        #expect(phone.waits.waits.count == 5)
    }

    @Test func loggingOutRemovesTheRegistrationWithTheProvidersToken() async throws {
        let phone = try await Phone(ScriptedServer(.offline), id: "7", tokens: Provider(["A"]))
        await phone.client.logOut()
        #expect(await phone.credentials.record().departures == [PendingLogOut(registration: "7", token: "A")])
        let later = try Phone(ScriptedServer(.ok), after: phone)
        await later.client.resume()
        #expect(later.server.lines == ["DELETE /api/register/7"], "there is no session to end")
        #expect(await later.credentials.store.load() == nil)
    }

    @Test func aPasswordIsNoUseThere() async throws {
        let phone = try await Phone(ScriptedServer(), tokens: Provider(["A"]))
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.logIn(user: "alice", password: "secret")
        }
        #expect(error?.kind == .logInNeeded)
        #expect(phone.server.requests.isEmpty)
    }
}
