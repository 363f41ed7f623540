import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// A request that is repeated is answered as the first one was, and sends once.
struct RepeatedRequestTests {
    /// The headers by which a request is known again.
    private static let names = ["Idempotency-Key", "TrackingId"]

    private let fields: HTTPFields = ["servicebusnotification-format": "pigeon"]

    private func named(_ name: String, _ value: String = "5f1f3a2e-0001") -> HTTPFields {
        var fields = fields
        fields.append(HTTPField(name, value))
        return fields
    }

    /// How many notifications there are.
    private func count(in fixture: HubFixture) async throws -> Int {
        try await fixture.storage.unfinished(after: .none, limit: 100).count
    }

    @Test("Trap 37: a repeated send gets the first one's answer", arguments: names)
    func aRepeatedSendGetsTheFirstAnswer(name: String) async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        let first = try await fixture.send(.post, "/demo/messages", fields: named(name), body: "coo")
        fixture.time.advance(by: .seconds(86_399))
        let token = try HubFixture.token("manage", expiry: fixture.time.now + .seconds(60))
        var later = named(name)
        later.append(HTTPField("authorization", token))
        let second = try await fixture.send(.post, "/demo/messages/?api-version=2020-06", fields: later, body: "coo")
        #expect(first.status == .created && second.status == .created)
        #expect(first.fields["location"] == second.fields["location"])
        #expect(try await count(in: fixture) == 1)
    }

    @Test("Trap 37: the same tracking id with another body is another send")
    func theSameTrackingIDWithAnotherBodyIsAnotherSend() async throws {
        let fixture = try await HubFixture()
        let first = try await fixture.send(.post, "/demo/messages", fields: named("TrackingId"), body: "coo")
        let second = try await fixture.send(.post, "/demo/messages", fields: named("TrackingId"), body: "cuckoo")
        #expect(second.status == .created)
        #expect(first.fields["location"] != second.fields["location"])
    }

    @Test("A promised key with another request is a 422", arguments: ["body", "tags", "field", "time", "secrecy"])
    func aPromisedKeyWithAnotherRequestIsRefused(change: String) async throws {
        let fixture = try await HubFixture()
        let path = "/demo/schedulednotifications"
        var fields = named("Idempotency-Key")
        fields.append(HTTPField("ServiceBusNotification-ScheduleTime", "2026-11-21T09:22:56"))
        #expect(try await fixture.send(.post, path, fields: fields, body: "coo").status == .created)
        // The same moment in another spelling is the same request.
        fields["servicebusnotification-scheduletime"] = "2026-11-21T10:22:56+01:00"
        #expect(try await fixture.send(.post, path, fields: fields, body: "coo").status == .created)
        switch change {
        case "tags": fields.append(HTTPField("ServiceBusNotification-Tags", "a"))
        case "field": fields.append(HTTPField("Pigeon-Ring", "red"))
        case "time": fields["servicebusnotification-scheduletime"] = "2026-11-21T09:22:57"
        case "secrecy": fields["martlet-confidential"] = "true"
        default: break
        }
        let body = change == "body" ? "cuckoo" : "coo"
        let refused = try await fixture.send(.post, path, fields: fields, body: body)
        #expect(refused.status.code == 422)
        #expect(refused.element("Code") == "422")
        #expect(refused.text.contains("The Idempotency-Key was used for another request"))
    }

    @Test("A key is bound to the access key and to the path", arguments: names)
    func aKeyIsBoundToAccessKeyAndPath(name: String) async throws {
        let fixture = try await HubFixture()
        func location(_ path: String, as rule: String) async throws -> String {
            var fields = named(name)
            fields.append(HTTPField("ServiceBusNotification-DeviceHandle", "north"))
            let response = try await fixture.send(.post, path, as: rule, fields: fields, body: "coo")
            return try #require(response.fields["location"])
        }
        let first = try await location("/demo/messages?direct", as: "manage")
        #expect(try await location("/demo/messages?direct=true", as: "manage") == first)
        #expect(try await location("/demo/messages?direct", as: "send") != first)
    }

    @Test("A batch is known again though its boundary differs with every attempt")
    func aBatchIsKnownAgain() async throws {
        let fixture = try await HubFixture()
        var locations: Set<String?> = []
        for boundary in ["one", "two"] {
            let body =
                "--\(boundary)\r\nContent-Disposition: inline; name=notification\r\n\r\ncoo\r\n"
                + "--\(boundary)\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"a\",\"b\"]\r\n--\(boundary)--"
            var fields = named("Idempotency-Key")
            fields.append(HTTPField("Content-Type", "multipart/mixed; boundary=\(boundary)"))
            let response = try await fixture.send(.post, "/demo/messages/$batch?direct", fields: fields, body: body)
            #expect(response.status == .created)
            locations.insert(response.fields["location"])
        }
        #expect(locations.count == 1)
        #expect(try await count(in: fixture) == 1)
    }

    @Test("Only one of several equal concurrent requests sends", arguments: names)
    func onlyOneOfTwoEqualConcurrentRequestsSends(name: String) async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        let fields = named(name)
        let answers = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 1...16 {
                group.addTask { try await fixture.send(.post, "/demo/messages", fields: fields, body: "coo") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == .created })
        #expect(Set(answers.map { $0.fields["location"] }).count == 1)
        #expect(try await count(in: fixture) == 1)
    }

    @Test("A repeated send gets the first one's answer after its expiry has passed", arguments: names)
    func aRepeatedSendGetsTheFirstAnswerAfterItsExpiry(name: String) async throws {
        let fixture = try await HubFixture()
        func send(_ key: String, _ body: String = "coo") async throws -> HTTPResponse {
            var fields = named(name, key)
            fields.append(HTTPField("Martlet-Expires", "2026-01-01T00:01:00Z"))
            return try await fixture.send(.post, "/demo/messages", fields: fields, body: body)
        }
        let first = try await send("a")
        #expect(first.status == .created)
        fixture.time.advance(by: .seconds(61))
        let second = try await send("a")
        #expect(second.status == .created)
        #expect(first.fields["location"] == second.fields["location"])
        #expect(try await send("b").status == .badRequest)
        #expect(try await send("a", "cuckoo").status.code == (name == "TrackingId" ? 400 : 422))
    }

    @Test("A repeated message gets the first one's answer after a smaller platform has come", arguments: names)
    func aRepeatedMessageGetsTheFirstAnswerAfterASmallerPlatformHasCome(name: String) async throws {
        let fixture = try await HubFixture()
        func send(_ key: String) async throws -> HTTPResponse {
            var fields = named(name, key)
            fields["servicebusnotification-format"] = "message"
            let body = #"{"text": "\#(String(repeating: "x", count: 1000))"}"#
            return try await fixture.send(.post, "/demo/messages", fields: fields, body: body)
        }
        let first = try await send("a")
        #expect(first.status == .created)
        try await fixture.register("north", as: "1")
        let second = try await send("a")
        #expect(second.status == .created)
        #expect(first.fields["location"] == second.fields["location"])
        #expect(try await send("b").status == .contentTooLarge)
        #expect(try await count(in: fixture) == 0)
    }

    @Test func aRefusedSendIsNotRemembered() async throws {
        let fixture = try await HubFixture()
        let fields = named("Idempotency-Key")
        #expect(try await fixture.send(.post, "/demo/messages", fields: fields).status == .badRequest)
        #expect(try await fixture.send(.post, "/demo/messages", fields: fields, body: "coo").status == .created)
    }

    @Test(
        "A key of other characters, or none, is refused",
        arguments: ["", "a b", "ä", String(repeating: "x", count: 256)])
    func aBadKeyIsRefused(key: String) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .post, "/demo/messages", fields: named("Idempotency-Key", key), body: "coo")
        #expect(response.status == .badRequest)
        #expect(response.text.contains("Idempotency-Key must be 1 to 255 visible ASCII characters"))
    }
}
