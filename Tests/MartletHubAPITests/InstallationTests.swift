import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore
@testable import MartletHubAPI

/// What installations are besides their exchanges: rows of the one audience, under one writer at a time.
struct InstallationTests {
    private static let body =
        #"{"platform":"pigeon","pushChannel":"loft1","userId":"u","tags":["a","b"],"#
        + #""templates":{"news":{"body":"{\"m\":\"$(m)\"}","tags":["sport"]}}}"#

    private static func rows(_ tag: String, of fixture: HubFixture) async throws -> [Registration] {
        let query = RegistrationQuery(
            hub: fixture.hub.id, filter: .tag(try Tag(tag)), limit: 100, now: fixture.time.now)
        return try await fixture.storage.registrations(query).registrations
    }

    @Test("An installation is listed as one registration, and one for each template")
    func anInstallationIsListedAsItsRows() async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: Self.body).status == .ok)
        let answer = try await fixture.send(.get, "/demo/tags/%24InstallationId%3A%7Bi1%7D/registrations")
        #expect(answer.count(of: "<entry") == 2)
        #expect(answer.count(of: "<Tags>$InstallationId:{i1},$UserId:{u},a,b</Tags>") == 1)
        #expect(answer.count(of: "<Tags>$InstallationId:{i1},$UserId:{u},a,b,sport,news</Tags>") == 1)
        #expect(try await Self.rows("$UserId:{u}", of: fixture).count == 2)
        #expect(try await Self.rows("news", of: fixture).map(\.template?.name) == ["news"])
    }

    @Test(
        "A user that cannot stand in a tag is stored, and only has no tag",
        arguments: ["Ann Lee", "a,b", "{a}", "a}", String(repeating: "u", count: 257), "o'neil\n"])
    func anyUserIsStored(user: String) async throws {
        let fixture = try await HubFixture()
        let body: JSON = ["platform": "pigeon", "pushChannel": "loft1", "userId": .string(user)]
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: body.text).status == .ok)
        let read = try await fixture.send(.get, "/demo/installations/i1")
        #expect(try JSON(parsing: read.bytes)["userId"] == .string(user))
        let row = try #require(try await Self.rows("$InstallationId:{i1}", of: fixture).first)
        #expect(row.tags.map(\.spelling) == ["$InstallationId:{i1}"])
        let patch: JSON = [["op": "replace", "path": "/userId", "value": .string("x" + user)]]
        #expect(try await fixture.send(.patch, "/demo/installations/i1", body: patch.text).status == .ok)
    }

    @Test("All registrations of a channel are deleted one by one, those of an installation as well")
    func aChannelIsUnregistered() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        for row in try await Self.rows("a", of: fixture) {
            #expect(try await fixture.send(.delete, "/demo/registrations/\(row.id)").status == .ok)
        }
        #expect(try await Self.rows("a", of: fixture).isEmpty)
        let left = try await fixture.send(.get, "/demo/installations/i1")
        #expect(left.status == .ok)
        #expect(left.text.contains(#""pushChannelExpired":true"#))
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: Self.body).status == .ok)
        #expect(try await Self.rows("a", of: fixture).count == 2)
    }

    @Test("A refresh that writes a registration of an installation ends with a registered device")
    func aRefreshRegisters() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let row = try #require(try await Self.rows("a", of: fixture).first { $0.template == nil })
        let body =
            "<PigeonRegistrationDescription><Tags>fresh</Tags><Loft>other</Loft></PigeonRegistrationDescription>"
        #expect(try await fixture.send(.put, "/demo/registrations/\(row.id)", body: body).status == .ok)
        #expect(try await Self.rows("fresh", of: fixture).map(\.handle) == [PushHandle("other")])
        #expect(try await Self.rows("fresh", of: fixture).map(\.installation) == [nil])
        #expect(try await Self.rows("a", of: fixture).map(\.template?.name) == ["news"])
    }

    @Test("A write keeps the registrations of what stays, and removes those of what goes")
    func aWriteKeepsWhatStays() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let native = try #require(try await Self.rows("a", of: fixture).first { $0.template == nil })
        let patch = #"[{"op":"remove","path":"/templates/news"},{"op":"add","path":"/tags","value":"c"}]"#
        #expect(try await fixture.send(.patch, "/demo/installations/i1", body: patch).status == .ok)
        #expect(try await Self.rows("$InstallationId:{i1}", of: fixture).map(\.id) == [native.id])
        #expect(try await Self.rows("c", of: fixture).map(\.id) == [native.id])
        #expect(try await fixture.send(.delete, "/demo/installations/i1").status == .noContent)
        #expect(try await Self.rows("$InstallationId:{i1}", of: fixture).isEmpty)
    }

    @Test("A template that no message can be made of is refused, and nothing has changed", arguments: [false, true])
    func aTemplateThatIsTooLargeIsRefused(isPatch: Bool) async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let large = String(repeating: "x", count: 2000)
        let answer =
            isPatch
            ? try await fixture.send(
                .patch, "/demo/installations/i1",
                body: #"[{"op":"add","path":"/templates/big","value":{"body":"{\"m\":\"\#(large)\"}"}}]"#)
            : try await fixture.send(
                .put, "/demo/installations/i1", body: Self.body.replacing("$(m)", with: large))
        #expect(answer.status == 400)
        #expect(answer.text.contains("constant part makes a payload of 2008 bytes"), "\(answer.text)")
        #expect(answer.text.contains("the platform takes at most 1000"))
        #expect(try await Self.rows("$InstallationId:{i1}", of: fixture).compactMap(\.template?.name) == ["news"])
        #expect(try await Self.rows("big", of: fixture).isEmpty)
    }

    @Test("A template from before its size was checked does not stand in the way of other changes")
    func aStoredTemplateThatIsTooLargeStays() async throws {
        let fixture = try await HubFixture()
        let large = Self.body.replacing("$(m)", with: String(repeating: "x", count: 2000))
        let installation = try Installation(parsing: Array(large.utf8), id: "i1")
        let rows = InstallationRows(
            installation: installation, platform: CarrierPigeon.self, expiresAt: nil,
            stored: Set(installation.templates.values))
        _ = try await fixture.storage.apply(
            InstallationChange.put(
                InstallationDraft(
                    id: "i1", document: installation.json.bytes, expiresAt: nil, rows: try rows.all()),
                condition: .none),
            in: fixture.hub.id, at: HubFixture.start
        ).get()
        let patch = #"[{"op":"add","path":"/tags","value":"c"}]"#
        #expect(try await fixture.send(.patch, "/demo/installations/i1", body: patch).status == .ok)
        #expect(try await Self.rows("c", of: fixture).count == 2)
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: large).status == 400)
    }

    @Test("Patches at the same time are all kept")
    func patchesAtTheSameTimeAreAllKept() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: #"{"platform":"pigeon","pushChannel":"a"}"#)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let patch = #"[{"op":"add","path":"/tags","value":"t\#(number)"}]"#
                    let answer = try await fixture.send(.patch, "/demo/installations/i1", body: patch)
                    #expect(answer.status == .ok)
                }
            }
            try await group.waitForAll()
        }
        let answer = try await fixture.send(.get, "/demo/installations/i1")
        let tags = try JSON(parsing: answer.bytes)["tags"]?.array?.compactMap(\.string) ?? []
        #expect(Set(tags) == Set((0..<40).map { "t\($0)" }))
    }

    @Test("An expiry that has passed is none; one that comes is kept, and then the installation is gone")
    func anExpiryIsKept() async throws {
        let fixture = try await HubFixture()
        let past = #"{"platform":"pigeon","pushChannel":"a","expirationTime":"2025-12-31T23:59+0000"}"#
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: past).status == .ok)
        #expect(
            try await fixture.send(.get, "/demo/installations/i1").text.contains(
                #""expirationTime":"9999-12-31T23:59:59.999Z""#))
        let next = #"{"platform":"pigeon","pushChannel":"a","tags":["a"],"expirationTime":"2026-01-01T00:30+0000"}"#
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: next).status == .ok)
        fixture.time.advance(by: .seconds(1799))
        #expect(try await fixture.send(.get, "/demo/installations/i1").status == .ok)
        fixture.time.advance(by: .seconds(1))
        #expect(try await fixture.send(.get, "/demo/installations/i1").status == .notFound)
        #expect(try await Self.rows("a", of: fixture).isEmpty)
    }

    @Test("A channel's push service result is returned, and a moved channel keeps its form")
    func feedbackIsTold() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let channel = try #require(try await Self.channels(of: fixture).first)
        _ = try await fixture.storage.apply(
            [ChannelFeedback(channel: channel, kind: .moved(PushHandle("Loft9"), key: "loft9"))], in: fixture.hub.id,
            at: fixture.time.now)
        let moved = try JSON(parsing: try await fixture.send(.get, "/demo/installations/i1").bytes)
        #expect(moved["pushChannel"] == "Loft9")
        _ = try await fixture.send(
            .patch, "/demo/installations/i1", body: #"[{"op":"add","path":"/tags","value":"c"}]"#)
        #expect(try await Self.rows("c", of: fixture).allSatisfy { $0.handle == PushHandle("Loft9") })
        let now = try #require(try await Self.channels(of: fixture).first)
        _ = try await fixture.storage.apply(
            [ChannelFeedback(channel: now, kind: .gone(asOf: nil))], in: fixture.hub.id, at: fixture.time.now)
        let gone = try JSON(parsing: try await fixture.send(.get, "/demo/installations/i1").bytes)
        #expect(gone["pushChannelExpired"] == true)
    }

    private static func channels(of fixture: HubFixture) async throws -> [ChannelID] {
        let query = AudienceQuery(
            hub: fixture.hub.id, platform: PlatformID(rawValue: "pigeon"), expression: nil,
            throughChannel: ChannelID(rawValue: .max), limit: 10, now: fixture.time.now)
        return try await fixture.storage.audience(query).members.map(\.channel)
    }

    @Test("Installations need the right to listen", arguments: ["send"])
    func installationsNeedTheRightToListen(rule: String) async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.put, "/demo/installations/i1", as: rule, body: Self.body).status == .forbidden)
        #expect(try await fixture.send(.get, "/demo/installations/i1", as: rule).status == .forbidden)
        #expect(try await fixture.send(.patch, "/demo/installations/i1", as: rule, body: "[]").status == .forbidden)
        #expect(try await fixture.send(.delete, "/demo/installations/i1", as: rule).status == .forbidden)
    }

    @Test("Trap 4: an installation is there in the answer's moment, before anything is pushed")
    func anInstallationIsThereAtOnce() async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.put, "/demo/installations/i1", as: "listen", body: Self.body).status == .ok)
        #expect(try await fixture.send(.get, "/demo/installations/i1", as: "listen").status == .ok)
    }

    @Test(
        "Trap 6: the path of an installation is matched in any case and with a trailing slash",
        arguments: ["/demo/Installations/i1", "/DEMO/INSTALLATIONS/i1/", "/demo/installations/i1/"])
    func thePathIsMatchedInAnyCase(target: String) async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.put, target, body: Self.body).status == .ok)
        #expect(try await fixture.send(.get, "/demo/installations/i1").status == .ok)
    }

    @Test("Trap 12: a write of an installation is a 200 without a body, a removal a 204")
    func statusesAreTheServices() async throws {
        let fixture = try await HubFixture()
        let put = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let patch = try await fixture.send(.patch, "/demo/installations/i1", body: "[]")
        let delete = try await fixture.send(.delete, "/demo/installations/i1")
        #expect([put, patch, delete].map(\.status) == [.ok, .ok, .noContent])
        #expect([put, patch, delete].allSatisfy { $0.bytes.isEmpty })
    }

    @Test(
        "Trap 29: a browser's channel comes back as it was stored, with platform and expirationTime",
        arguments: [
            #"{"auth":"BTBZMqHH6r4Tts7J_aSIgg","endpoint":"https://push.example/1","p256dh":"\#(key)"}"#,
            #""{\"endpoint\": \"https://push.example/1\",\"p256dh\":\"\#(key)\",\"auth\":\"BTBZMqHH6r4Tts7J_aSIgg\"}""#,
        ])
    func trap29(channel: String) async throws {
        let fixture = try await HubFixture()
        let put = try await fixture.send(
            .put, "/demo/installations/i1", body: #"{"platform":"Browser","pushChannel":\#(channel)}"#)
        #expect(put.status == .ok, "\(put.text)")
        let read = try JSON(parsing: try await fixture.send(.get, "/demo/installations/i1").bytes)
        let stored = try JSON(parsing: Array(channel.utf8))
        #expect(read["pushChannel"] == stored)
        #expect(read["platform"] == "browser")
        #expect(read["expirationTime"] == "9999-12-31T23:59:59.999Z")
    }

    private static let key =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"

    @Test("Trap 30: an installation is read as application/json; a patch's value is a text even for a template")
    func trap30() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.send(.put, "/demo/installations/i1", body: Self.body)
        let patch =
            #"[{"op":"add","path":"/templates/t","value":"{\"body\":\"{}\"}"},"#
            + #"{"op":"remove","path":"/templates/news","value":null}]"#
        #expect(try await fixture.send(.patch, "/demo/installations/i1", body: patch).status == .ok)
        let read = try await fixture.send(.get, "/demo/installations/i1")
        #expect(read.fields["content-type"] == "application/json; charset=utf-8")
        let templates = try JSON(parsing: read.bytes)["templates"]
        #expect(templates == ["t": ["body": "{}", "tags": ["t"]]])
    }

    @Test(
        "Trap 31: dates without seconds or with +0000 come back as an instant with seconds and Z",
        arguments: ["2026-02-19T07:48+0000", "2026-02-19T07:48:00.000Z", "2026-02-19T07:48:00.0000000Z"])
    func trap31(date: String) async throws {
        let fixture = try await HubFixture()
        let body = #"{"platform":"pigeon","pushChannel":"a","expirationTime":"\#(date)"}"#
        #expect(try await fixture.send(.put, "/demo/installations/i1", body: body).status == .ok)
        let read = try JSON(parsing: try await fixture.send(.get, "/demo/installations/i1").bytes)
        #expect(read["expirationTime"] == "2026-02-19T07:48:00.000Z")
    }
}
