import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletBackend

struct NotifyTests {
    @Test func aMessageReachesTheDevicesOfItsUserAlone() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alice1", as: "alice")
        _ = try await fixture.register("alice2", as: "alice", tags: ["bob"])
        _ = try await fixture.register("bob1", as: "bob")
        _ = try await fixture.register("carol1", as: "carol", tags: ["alice", "username.alice"])
        let response = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=Alice", as: "Bob", #""hello""#)
        #expect(response.status == .ok)
        let delivery = try #require(fixture.sent.deliveries.first)
        #expect(try response.json["id"]?.string == delivery.notification.id.description)
        #expect(String(decoding: delivery.notification.content.body, as: UTF8.self) == "From bob: hello")
        #expect(try await fixture.audience(of: delivery) == ["alice1", "alice2"])
    }

    @Test(arguments: [
        "hello", #"quotes " and \ and / "#, "line\nbreak\tand\u{2067}direction\u{2069}", "😀👩‍👩‍👧 שלום 你好 ñ",
        "</script>&amp;", "%@ $(x)",
    ])
    func textArrivesIntact(text: String) async throws {
        let fixture = try await Fixture()
        let body = JSON.string(text).text
        let response = await fixture.ask(.post, "/api/notifications?pns=apns&to_tag=alice", as: "bob", body)
        #expect(response.status == .ok)
        let notification = try #require(fixture.sent.deliveries.first).notification
        #expect(
            try JSON(parsing: notification.content.body) == [
                "aps": ["alert": .string("From bob: " + text)],
                "notificationId": .string(notification.id.description),
            ])
    }

    @Test(arguments: ["\u{0}", "a\u{1}", "\u{1B}[31m", "\u{7F}", "\u{85}", "\u{9B}31m"])
    func controlCharactersAreRefusedAsInMessages(text: String) async throws {
        let fixture = try await Fixture()
        let body = JSON.string(text).text
        let response = await fixture.ask(.post, "/api/notifications?pns=apns&to_tag=alice", as: "bob", body)
        #expect(response.status == .badRequest)
        #expect(response.message.contains("control characters"))
        let message = #"{"to":["alice"],"message":{"text":\#(body)}}"#
        #expect(await fixture.ask(.post, "/api/notifications/message", as: "bob", message).status == .badRequest)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func escapedTextIsTheTextThatItStandsFor() async throws {
        let fixture = try await Fixture()
        _ = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", #" "\uD83D\uDE00\u00e9" "#)
        #expect(fixture.sent.deliveries.first?.notification.content.body == Array("From bob: 😀é".utf8))
    }

    @Test(arguments: [
        "alice||bob", "alice || bob", "!alice", "(alice)", "alice&&news", "username:alice", "", "alice bob",
        "$UserId:{alice}", "*",
    ])
    func theRecipientIsOneNameAndNoExpression(recipient: String) async throws {
        let fixture = try await Fixture()
        let target = "/api/notifications?pns=pigeon&to_tag=" + PercentEncoding.encode(recipient)
        let response = await fixture.ask(.post, target, as: "bob", #""hello""#)
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test(arguments: [
        "", "?pns=pigeon", "?to_tag=alice", "?pns=&to_tag=alice", "?pns=owl&to_tag=alice",
        "?pns=pigeon&to_tag=alice&to_tag=bob", "?pns&to_tag",
    ])
    func platformAndRecipientMustBeSaid(query: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, "/api/notifications" + query, as: "bob", #""hello""#)
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
    }

    @Test(arguments: ["", "hello", #"{"message":"hello"}"#, "1", "null", #""\ud800""#, #""a"b"#, "\"\u{1}\""])
    func theBodyIsAJSONString(body: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", body)
        #expect(response.status == .badRequest)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func textThatCannotFitIsRefusedWithTheLimitBeforeAnythingIsSent() async throws {
        let fixture = try await Fixture()
        let body = JSON.string(String(repeating: "x", count: 1001)).text
        let response = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", body)
        #expect(response.status == .contentTooLarge)
        #expect(response.message.contains("1000"))
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aMessageToAllGoesToEveryPlatformOfTheHubOnce() async throws {
        let fixture = try await Fixture(sendsTo: ["pigeon", "apns"])
        func ask(_ text: String) async -> HTTPResponse {
            await fixture.ask(
                .post, "/api/notifications?pns=all&to_tag=alice", as: "bob", text, fields: ["idempotency-key": "k"])
        }
        let response = await ask(#""hello""#)
        #expect(response.status == .ok)
        let sent = fixture.sent.deliveries
        let ids = sent.map { ($0.platform.rawValue, $0.notification.id.description) }
        #expect(try response.json["ids"] == .object(Dictionary(uniqueKeysWithValues: ids.map { ($0, .string($1)) })))
        #expect(Set(ids.map(\.0)) == ["pigeon", "apns"])
        #expect(try await ask(#""hello""#).json == response.json)
        #expect(fixture.sent.deliveries.count == 2)
        #expect(await ask(#""other""#).status.code == 422)
    }

    @Test func aMessageToAllThatDoesNotFitOnePlatformGoesToNone() async throws {
        let fixture = try await Fixture(sendsTo: ["pigeon", "apns"])
        let body = JSON.string(String(repeating: "x", count: 1001)).text
        let response = await fixture.ask(.post, "/api/notifications?pns=all&to_tag=alice", as: "bob", body)
        #expect(response.status == .contentTooLarge)
        #expect(fixture.sent.deliveries.isEmpty)
    }

    @Test func aUserWhomNobodyKnowsIsAnsweredAsAnyOther() async throws {
        let fixture = try await Fixture()
        let known = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", #""x""#)
        let unknown = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=zoe", as: "bob", #""x""#)
        #expect(known.status == unknown.status)
        #expect(known.fields == unknown.fields)
        #expect(known.bytes.count == unknown.bytes.count)
    }

    @Test func aNameBeyondTheAlphabetIsAddressedByItsEscape() async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("Zoë", password: "Zoë1".lowercased())
        _ = try await fixture.register("zoe1", as: "zoë")
        _ = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=ZO%C3%8B", as: "bob", #""x""#)
        _ = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "zoë", #""x""#)
        let sent = fixture.sent.deliveries
        #expect(try await fixture.audience(of: sent[0]) == ["zoe1"])
        #expect(sent[1].notification.content.body == Array("From Zoë: x".utf8))
    }

    @Test func sendersSeeWhatTheySendOnlyWhereSwitchedOn() async throws {
        let on = try await Fixture(settings: BackendSettings(showsSenders: true))
        let off = try await Fixture()
        for fixture in [on, off] {
            _ = try await fixture.register("alice1", as: "alice")
            _ = try await fixture.register("bob1", as: "bob")
            #expect(await fixture.put("x", "carol1", as: "carol", tags: ["from:bob"]).status == .badRequest)
            _ = await fixture.ask(.post, "/api/notifications?pns=pigeon&to_tag=alice", as: "bob", #""x""#)
        }
        #expect(try await on.audience(of: on.sent.deliveries[0]) == ["alice1", "bob1"])
        #expect(try await off.audience(of: off.sent.deliveries[0]) == ["alice1"])
    }
}
