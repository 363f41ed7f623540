import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

struct SecondFactorTests {
    private static let words = "secret-words"

    /// A bench with an operator `ops` who has a second factor.
    private struct Enrolled {
        let bench: ConsoleBench
        let cookie: String
        let password: OneTimePassword
        let recoveryCodes: [String]

        init() async throws {
            bench = try await ConsoleBench()
            cookie = try await bench.signIn("ops", "admin")
            let begun = await bench.send(.post, "/console/api/session/factor", cookie: cookie, body: [:])
            #expect(begun.status == .created)
            let secret = try #require(try await bench.storage.factor(of: "ops")?.secret)
            password = OneTimePassword(secret: secret)
            #expect(begun.json?["secret"]?.string == password.text)
            #expect(
                begun.json?["uri"]?.string?.hasPrefix("otpauth://totp/Martlet:ops?secret=\(password.text)&") == true)
            let code = try password.code(ofStep: OneTimePassword.step(at: bench.time.now.seconds))
            let confirmed = await bench.send(
                .post, "/console/api/session/factor/confirm", cookie: cookie, body: ["code": .string(code)])
            recoveryCodes = (confirmed.json?["recoveryCodes"]?.array ?? []).compactMap(\.string)
            #expect(confirmed.status == .ok && Set(recoveryCodes).count == 10)
        }

        /// The code of the present step.
        func code() throws -> String {
            try password.code(ofStep: OneTimePassword.step(at: bench.time.now.seconds))
        }

        func signIn(_ code: String?, password: String = words) async -> HTTPResponse {
            var body: [String: JSON] = ["name": "ops", "password": .string(password)]
            body["code"] = code.map(JSON.string)
            return await bench.send(.post, "/console/api/sign-in", body: .object(body))
        }
    }

    @Test func theCodeIsAskedForAfterThePassword() async throws {
        let enrolled = try await Enrolled()
        enrolled.bench.time.advance(by: .seconds(60))
        #expect(await enrolled.signIn(nil).code == "needs-code")
        #expect(await enrolled.signIn("000000", password: "wrong-words").code == "bad-credentials")
        let right = await enrolled.signIn(try enrolled.code())
        #expect(right.status == .ok && right.json?["hasFactor"] == true)
    }

    @Test func aCodeIsUsedOnceEvenThatOfTheEnrolment() async throws {
        let enrolled = try await Enrolled()
        #expect(await enrolled.signIn(try enrolled.code()).code == "bad-code")
        enrolled.bench.time.advance(by: .seconds(30))
        let code = try enrolled.code()
        #expect(await enrolled.signIn(code).status == .ok)
        #expect(await enrolled.signIn(code).code == "bad-code")
    }

    @Test func aRecoveryCodeOpensOnceHoweverItIsWritten() async throws {
        let enrolled = try await Enrolled()
        let code = enrolled.recoveryCodes[0].lowercased().replacing("-", with: " ")
        #expect(await enrolled.signIn(code).status == .ok)
        #expect(await enrolled.signIn(code).code == "bad-code")
        let state = await enrolled.bench.send(.get, "/console/api/session/factor", cookie: enrolled.cookie)
        #expect(state.json?["isOn"] == true && state.json?["recoveryCodes"] == 9)
    }

    @Test func guessesAreLimitedWhereverTheyComeFrom() async throws {
        let enrolled = try await Enrolled()
        enrolled.bench.time.advance(by: .seconds(3600))
        for _ in 0..<5 { #expect(await enrolled.signIn("abc").code == "bad-code") }
        let refused = await enrolled.signIn(try enrolled.code())
        #expect(refused.code == "too-many" && refused.fields["retry-after"] == "301")
        enrolled.bench.time.advance(by: .seconds(300))
        #expect(await enrolled.signIn("abc").code == "bad-code")
        #expect(await enrolled.signIn("abc").code == "too-many")
        enrolled.bench.time.advance(by: .seconds(300))
        #expect(await enrolled.signIn(try enrolled.code()).status == .ok)
    }

    @Test func enrollingEndsTheOtherSessionsAndNeedsAFreshOne() async throws {
        let bench = try await ConsoleBench()
        let other = try await bench.signIn("ops", "admin")
        let answer = await bench.send(
            .post, "/console/api/sign-in", body: ["name": "ops", "password": .string(Self.words)])
        let cookie = String((answer.fields["set-cookie"] ?? "").prefix { $0 != ";" })
        bench.time.advance(by: .seconds(600))
        #expect(await bench.send(.post, "/console/api/session/factor", cookie: cookie, body: [:]).code == "not-fresh")
        _ = await bench.send(
            .post, "/console/api/session/confirm", cookie: cookie, body: ["password": .string(Self.words)])
        _ = await bench.send(.post, "/console/api/session/factor", cookie: cookie, body: [:])
        let wrong = await bench.send(
            .post, "/console/api/session/factor/confirm", cookie: cookie, body: ["code": "abc"])
        #expect(wrong.code == "bad-code")
        #expect(await bench.send(.get, "/console/api/session", cookie: other).status == .ok)
        let secret = try #require(try await bench.storage.factor(of: "ops")?.secret)
        let code = try OneTimePassword(secret: secret).code(ofStep: OneTimePassword.step(at: bench.time.now.seconds))
        _ = await bench.send(
            .post, "/console/api/session/factor/confirm", cookie: cookie, body: ["code": .string(code)])
        #expect(await bench.send(.get, "/console/api/session", cookie: other).code == "signed-out")
        #expect(await bench.send(.get, "/console/api/session", cookie: cookie).status == .ok)
        #expect(await bench.send(.post, "/console/api/session/factor", cookie: cookie, body: [:]).code == "conflict")
    }

    @Test func itIsRemovedByItsOwnerWithACode() async throws {
        let enrolled = try await Enrolled()
        let path = "/console/api/session/factor/remove"
        let wrong = await enrolled.bench.send(.post, path, cookie: enrolled.cookie, body: ["code": "abc"])
        #expect(wrong.code == "bad-code")
        let code = JSON.string(enrolled.recoveryCodes[1])
        #expect(
            await enrolled.bench.send(.post, path, cookie: enrolled.cookie, body: ["code": code]).status == .noContent)
        #expect(await enrolled.signIn(nil).status == .ok)
    }

    @Test func anInvitationDoesNotReplaceItButALinkOfTheMachineDoes() async throws {
        let enrolled = try await Enrolled()
        enrolled.bench.time.advance(by: .seconds(60))
        let invited = try await enrolled.bench.directory.invite("ops", RoleGrants([RoleGrant(.admin)]))
        var body: [String: JSON] = ["token": .string(invited.token), "password": "other-words"]
        let use = "/console/api/link/use"
        #expect(await enrolled.bench.send(.post, use, body: .object(body)).code == "needs-code")
        body["code"] = .string(try enrolled.code())
        #expect(await enrolled.bench.send(.post, use, body: .object(body)).status == .ok)
        let link = try await enrolled.bench.directory.signInLink("ops")
        #expect(await enrolled.bench.send(.post, use, body: ["token": .string(link.token)]).status == .ok)
    }

    @Test func whoHasLostItIsLetInAfterAResetWhichEndsTheSessions() async throws {
        let enrolled = try await Enrolled()
        try await enrolled.bench.directory.resetFactor(of: "OPS")
        #expect(await enrolled.bench.send(.get, "/console/api/session", cookie: enrolled.cookie).code == "signed-out")
        #expect(await enrolled.signIn(nil).status == .ok)
    }
}

/// Failed sign-ins in the audit log.
struct FailedSignInTests {
    @Test func aFailureIsListedWithTheOperatorAndWithoutWhatWasTyped() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("Ops", "admin")
        for (name, password) in [("ops", "wrong-words"), ("hunter2", "secret-words"), ("a b", "x")] {
            let body: JSON = ["name": .string(name), "password": .string(password)]
            #expect(await bench.send(.post, "/console/api/sign-in", body: body).code == "bad-credentials")
        }
        _ = await bench.send(.post, "/console/api/link/use", body: ["token": "none", "password": "secret-words"])
        let actions = try await bench.storage.actions(OperatorActionQuery(limit: 4)).map(\.1)
        #expect(actions.map(\.operatorName) == ["?", "?", "?", "Ops"])
        #expect(actions.map(\.action) == ["use a link", "sign in", "sign in", "sign in"])
        #expect(actions.map(\.answer) == [404, 401, 401, 401])
        #expect(actions.allSatisfy { $0.subject == nil && $0.address == "127.0.0.1" })
    }

    @Test func aDayHasABoundedNumberOfEachOperator() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let before = try await bench.storage.actions(OperatorActionQuery(limit: 1000)).count
        for name in ["nobody", "ops"] {
            for _ in 0..<FailedSignIns.dailyLimit + 5 {
                let body: JSON = ["name": .string(name), "password": "wrong-words"]
                _ = await bench.send(.post, "/console/api/sign-in", body: body)
            }
        }
        let after = try await bench.storage.actions(OperatorActionQuery(limit: 1000)).count
        #expect(after - before == 2 * FailedSignIns.dailyLimit)
        bench.time.advance(by: .seconds(86_400))
        _ = await bench.send(.post, "/console/api/sign-in", body: ["name": "ops", "password": "wrong-words"])
        #expect(try await bench.storage.actions(OperatorActionQuery(limit: 1000)).count == after + 1)
    }

    @Test func aStolenCookieHasFiveGuessesOfThePassword() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        func guess(_ password: String, from number: Int, _ path: String = "confirm") async -> HTTPResponse {
            let method: HTTPMethod = path == "confirm" ? .post : .put
            let body: JSON = ["password": .string(password), "new": "another-secret"]
            return await bench.send(method, "/console/api/session/\(path)", cookie: cookie, body: body) {
                $0.connection?.peer = "127.0.1.\(number)"
            }
        }
        for number in 0..<5 {
            let answer = await guess("wrong-words", from: number, number % 2 == 0 ? "confirm" : "password")
            #expect(answer.status.code == 401)
        }
        #expect(await guess("secret-words", from: 5).status.code == 429)
        bench.time.advance(by: .seconds(300))
        #expect(await guess("secret-words", from: 6).status == .ok)
    }

    @Test func aWrongConfirmationIsListed() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        _ = await bench.send(.post, "/console/api/session/confirm", cookie: cookie, body: ["password": "wrong-words"])
        let last = try await bench.storage.actions(OperatorActionQuery(limit: 1)).first?.1
        #expect(last?.action == "confirm" && last?.operatorName == "ops" && last?.answer == 401)
    }
}
