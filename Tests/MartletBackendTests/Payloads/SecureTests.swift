import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct SecureTests {
    @Test func aSecretLeavesAsItsIDAlone() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alices", as: "alice")
        let response = await fixture.sendJSON("secure", ["to": "Alice", "payload": "the \"secret\" 🔑"], as: "bob")
        #expect(response.status == .created)
        let id = try #require(response.payloadID)
        #expect(response.fields["location"] == "/api/notifications/\(id)")
        #expect(fixture.pushes == [["secureId: \(id)"]])
        #expect(fixture.sent.deliveries.allSatisfy { $0.notification.isConfidential })
        #expect(try await fixture.audience(of: fixture.sent.deliveries[0]) == ["alices"])
        for isRead in [false, true] {
            let fetched = await fixture.ask(.get, "/api/notifications/\(id)", as: "alice")
            #expect(fetched.status == .ok)
            #expect(fetched.fields["cache-control"] == "private, no-store")
            #expect(
                try fetched.json == [
                    "Id": .integer(Int64(id.rawValue)), "Payload": "the \"secret\" 🔑", "Read": .bool(isRead),
                ])
        }
    }

    @Test func itsMessageGoesAlongForThoseWhoMustLogIn() async throws {
        let fixture = try await Fixture()
        let body: JSON = ["payload": "x", "message": "Log in to see it"]
        let id = try #require(await fixture.sendJSON("secure", body, as: "bob").payloadID)
        #expect(fixture.pushes == [["secureId: \(id)", "secureMessage: Log in to see it"]])
    }

    @Test func onceIsOnceForEachAddressee() async throws {
        let fixture = try await Fixture()
        let body: JSON = ["to": ["alice", "bob"], "payload": "x", "once": true]
        let id = try #require(await fixture.sendJSON("secure", body, as: "carol").payloadID)
        for user in ["alice", "bob"] {
            let path = "/api/notifications/\(id)"
            #expect(await fixture.ask(.head, path, as: user).status == .ok)
            #expect(try await fixture.ask(.get, path, as: user).json["Read"] == false)
            let gone = await fixture.ask(.get, path, as: user)
            let never = await fixture.ask(.get, "/api/notifications/1", as: user)
            #expect(gone.status == .notFound)
            #expect(gone.bytes == never.bytes)
            #expect(gone.fields == never.fields)
        }
    }

    @Test func manyWhoAskAtOnceAreAnsweredOnce() async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendJSON("secure", ["payload": "x", "once": true], as: "bob").payloadID)
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask { await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .ok }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered == 1)
    }

    @Test func aSecretEndsInADayUnlessItIsSaid() async throws {
        let fixture = try await Fixture()
        let standard = try #require(await fixture.sendJSON("secure", ["payload": "x"], as: "bob").payloadID)
        let long = try #require(
            await fixture.sendJSON("secure", ["payload": "x", "expiresIn": 2_592_000], as: "bob").payloadID)
        fixture.time.advance(by: .seconds(86_400))
        #expect(await fixture.ask(.get, "/api/notifications/\(standard)", as: "bob").status == .notFound)
        fixture.time.advance(by: .seconds(29 * 86_400 - 1))
        #expect(await fixture.ask(.get, "/api/notifications/\(long)", as: "bob").status == .ok)
        fixture.time.advance(by: .seconds(1))
        #expect(await fixture.ask(.get, "/api/notifications/\(long)", as: "bob").status == .notFound)
    }

    @Test(arguments: [
        "", "{}", #"{"payload":1}"#, #"{"payload":"x","once":1}"#, #"{"payload":"x","to":[]}"#,
        #"{"payload":"x","to":"alice","tags":"a"}"#, #"{"payload":"x","expiresIn":-1}"#, #"{"payload":"x","to":"!a"}"#,
    ])
    func aWrongBodyIsRefusedInASentence(body: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, "/api/notifications/secure", as: "bob", body)
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aTextHasALimitAndAQuota() async throws {
        let fixture = try await Fixture(settings: BackendSettings(payloads: PayloadSettings(quota: 80_000)))
        let text = JSON.string(String(repeating: "x", count: 65_536))
        let long = JSON.string(String(repeating: "x", count: 65_537))
        #expect(await fixture.sendJSON("secure", ["payload": long], as: "bob").status == .contentTooLarge)
        #expect(await fixture.sendJSON("secure", ["payload": text], as: "bob").status == .created)
        let refused = await fixture.sendJSON("secure", ["payload": text], as: "bob")
        #expect(try refused.json["code"]?.integer == 41301)
    }
}
