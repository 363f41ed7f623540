import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

/// Who may fetch what, and what the others learn.
struct FetchTests {
    @Test(arguments: ["secure", "rich"])
    func toOthersItIsAsIfItHadNeverBeen(kind: String) async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendJSON(kind, ["to": "alice", "payload": "AA=="], as: "bob").payloadID)
        let never = PayloadID(rawValue: id.rawValue == 7 ? 8 : 7)?.description ?? ""
        for method in [HTTPMethod.get, .head] {
            let others = await fixture.ask(method, "/api/notifications/\(id)", as: "carol")
            let nobodys = await fixture.ask(method, "/api/notifications/\(never)", as: "carol")
            #expect(others.status == .notFound)
            #expect(try others.json["code"]?.integer == 40402)
            #expect(others.bytes == nobodys.bytes)
            #expect(others.fields == nobodys.fields)
        }
        // The sender is no addressee.
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .notFound)
        #expect(await fixture.ask(.get, "/api/notifications/\(id)").status == .unauthorized)
        #expect(
            try await fixture.audit == [
                "carol refused \(id) from 192.0.2.1", "carol refused \(never) from 192.0.2.1",
                "carol refused \(id) from 192.0.2.1", "carol refused \(never) from 192.0.2.1",
                "bob refused \(id) from 192.0.2.1",
            ])
    }

    @Test(arguments: [
        "0", "-1", "+7", "07", "7.0", "0x7", "2147483648", "99999999999999999999", "a", "%2e%2e%2fetc", "7%00", "%20",
        "٧",
    ])
    func anInvalidIDBelongsToNoUser(id: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.get, "/api/notifications/" + id, as: "bob")
        #expect([HTTPStatus.notFound, .badRequest].contains(response.status))
        #expect(try response.json["Payload"] == nil)
    }

    @Test func guessingIDsIsSlowedDown() async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendJSON("secure", ["payload": "x"], as: "bob").payloadID)
        var missed = 0
        for guess in 1...400 {
            let response = await fixture.ask(.get, "/api/notifications/\(guess)", as: "carol")
            if response.status == .notFound { missed += 1 }
        }
        #expect(missed == MissLimiter.size.drops)
        // What is the user's own is still there to read, once and again.
        let own = try #require(
            await fixture.sendJSON("secure", ["to": "carol", "payload": "mine"], as: "bob").payloadID)
        for _ in 0..<2 {
            let response = await fixture.ask(.get, "/api/notifications/\(own)", as: "carol")
            #expect(response.status == .ok)
            #expect(try response.json["Payload"]?.string == "mine")
        }
        #expect(await fixture.ask(.get, "/api/notifications/\(own)", as: "alice").status == .notFound)
        let refused = await fixture.ask(.get, "/api/notifications/\(id)", as: "carol")
        #expect(refused.status == .tooManyRequests)
        let wait = try #require(refused.fields["retry-after"].flatMap { Int64($0) })
        fixture.time.advance(by: .seconds(wait))
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "carol").status == .notFound)
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .ok)
    }

    @Test func theSenderAloneLearnsWhoHasRead() async throws {
        let fixture = try await Fixture()
        let body: JSON = ["to": ["carol", "alice"], "payload": "x"]
        let id = try #require(await fixture.sendJSON("secure", body, as: "Bob").payloadID)
        let path = "/api/notifications/\(id)/readers"
        _ = await fixture.ask(.get, "/api/notifications/\(id)", as: "alice")
        let response = await fixture.ask(.get, path, as: "bob")
        #expect(
            try response.json == [
                "readers": [
                    ["user": "alice", "read": .string(fixture.time.now.iso8601)], ["user": "carol", "read": .null],
                ]
            ])
        let others = await fixture.ask(.get, path, as: "alice")
        #expect(others.status == .notFound)
        #expect(others.bytes == (await fixture.ask(.get, "/api/notifications/7/readers", as: "alice")).bytes)
    }

    @Test func manyReadersComeInPages() async throws {
        let fixture = try await Fixture()
        let now = fixture.time.now
        let draft = PayloadDraft(
            kind: .secure, sender: "bob", content: .text([1]), createdAt: now, expiresAt: now + .seconds(60))
        guard case .added(let id) = try await fixture.storage.addPayload(draft, quota: 10_000) else {
            Issue.record("a payload within the quota was not added")
            return
        }
        let users = (10_000..<12_500).map { "user\($0)" }
        try await fixture.storage.addAddressees(users, of: id)
        try await fixture.storage.publish(id)
        var found: [String] = []
        var query = ""
        repeat {
            let page = try await fixture.ask(.get, "/api/notifications/\(id)/readers" + query, as: "bob").json
            found += page["readers"]?.array?.compactMap { $0["user"]?.string } ?? []
            query = page["next"]?.string.map { "?after=" + PercentEncoding.encode($0) } ?? ""
        } while !query.isEmpty
        #expect(found == users)
    }

    @Test func thereMustBeAnID() async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.get, "/api/notifications/rich", as: "bob")
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["allow"] == "POST")
    }
}
