import MartletCore
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletHubAPI

struct VerifiedTokenTests {
    private static func token(_ rule: String) throws -> PresentedToken {
        let header = try HubFixture.token(rule)
        let signature = try #require(SharedAccessSignature(header: header))
        return PresentedToken(header: header, signature: signature, audience: try #require(signature.audience))
    }

    @Test func aTokenIsFoundByItsWholeTextOnly() throws {
        let tokens = VerifiedTokens()
        let token = try Self.token("manage")
        tokens.remember(token)
        #expect(tokens.token(token.header)?.signature.keyName == "manage")
        #expect(tokens.token(token.header + " ") == nil)
        #expect(tokens.token(String(token.header.dropLast())) == nil)
        #expect(tokens.token("") == nil)
    }

    @Test func noMoreThanTheLimitAreRemembered() throws {
        let tokens = VerifiedTokens(byteLimit: 5000)
        for number in 0..<10 {
            tokens.remember(try Self.token("rule\(number)"))
            #expect((1...4).contains(tokens.count))
            #expect(tokens.bytes <= 5000)
        }
        let last = try Self.token("rule9")
        #expect(tokens.token(last.header) != nil)
    }

    @Test func aVeryLongHeaderIsNotRemembered() throws {
        let tokens = VerifiedTokens()
        let token = try Self.token(String(repeating: "r", count: 1024))
        tokens.remember(token)
        #expect(tokens.count == 0)
        #expect(tokens.token(token.header) == nil)
    }

    @Test("A token that has passed ends with the key that signed it, and passes again under that key alone")
    func aTokenEndsWithItsKey() async throws {
        let fixture = try await HubFixture()
        let token = try HubFixture.token("manage")
        func status() async throws -> HTTPStatus {
            try await fixture.send(.get, "/demo/registrations", fields: ["authorization": token]).status
        }
        #expect(try await status() == .ok)
        _ = try await fixture.hubs.regenerateKey(.secondary, of: "manage", in: "demo")
        #expect(try await status() == .ok)
        _ = try await fixture.hubs.regenerateKey(.primary, of: "manage", in: "demo")
        #expect(try await status() == .unauthorized)
        #expect(try await status() == .unauthorized)
        let key = HubFixture.key
        _ = try await fixture.hubs.update("demo") { settings in
            for index in settings.accessRules.indices where settings.accessRules[index].name == "manage" {
                settings.accessRules[index].secondaryKey = key
            }
        }
        #expect(try await status() == .ok)
    }

    @Test func aTokenThatHasPassedEndsWithItsRule() async throws {
        let fixture = try await HubFixture()
        let token = try HubFixture.token("send")
        let fields: HTTPFields = ["authorization": token]
        #expect(try await fixture.send(.get, "/demo/registrations/1", fields: fields).status == .forbidden)
        _ = try await fixture.hubs.update("demo") { $0.accessRules.removeAll { $0.name == "send" } }
        #expect(try await fixture.send(.get, "/demo/registrations/1", fields: fields).status == .unauthorized)
    }
}
