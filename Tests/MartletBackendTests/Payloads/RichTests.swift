import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct RichTests {
    let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array("\r\n--\r\n----form".utf8)

    func fetch(
        _ fixture: Fixture, _ id: PayloadID, as user: String, _ method: HTTPMethod = .get, fields: HTTPFields = [:]
    ) async -> HTTPResponse {
        await fixture.ask(method, "/api/notifications/\(id)", as: user, fields: fields)
    }

    @Test func aFormArrivesAsItsIDAndIsFetched() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.register("alices", as: "alice")
        _ = try await fixture.register("bobs", as: "bob")
        let form = Form(("to", "Alice"), ("message", "Look: a \"picture\" 👋"), ("type", "img"), file: picture)
        let response = await fixture.sendRich(form, as: "bob")
        #expect(response.status == .created)
        let id = try #require(response.payloadID)
        #expect(response.fields["location"] == "/api/notifications/\(id)")
        #expect(fixture.pushes == [["richId: \(id)", "richMessage: Look: a \"picture\" 👋", "richType: img"]])
        #expect(try await fixture.audience(of: fixture.sent.deliveries[0]) == ["alices"])
        let fetched = await fetch(fixture, id, as: "alice")
        #expect(fetched.status == .ok)
        #expect(try await fetched.content == picture)
        #expect(fetched.fields["content-type"] == "image/png")
        #expect(fetched.fields["content-disposition"] == "inline")
        #expect(fetched.fields["x-content-type-options"] == "nosniff")
        #expect(fetched.fields["content-security-policy"] == "sandbox; default-src 'none'")
        #expect(fetched.fields["cache-control"] == "private, no-store")
    }

    @Test func onEveryPlatformThatTheHubCanSendToThereIsOnePush() async throws {
        let fixture = try await Fixture(sendsTo: ["apns", "wns", "pigeon"])
        let response = await fixture.sendRich(
            Form(("to", "alice,bob , carol"), ("message", "x"), file: picture), as: "bob")
        let id = try #require(response.payloadID)
        let sent = fixture.sent.deliveries
        #expect(Set(sent.map(\.platform.rawValue)) == ["apns", "wns", "pigeon"])
        #expect(sent.count == 3)
        let apple = try #require(sent.first { $0.platform.rawValue == "apns" })
        #expect(
            try JSON(parsing: apple.notification.content.body) == [
                "aps": ["content-available": 1, "sound": ""], "richId": .string(id.description), "richMessage": "x",
                "richType": "img",
            ])
        for user in ["alice", "bob", "carol"] { #expect(await fetch(fixture, id, as: user).status == .ok) }
    }

    @Test func manyUsersAreSeveralExpressions() async throws {
        let fixture = try await Fixture()
        let users = (1...45).map { "user\($0)" }
        let response = await fixture.sendJSON(
            "rich", ["to": .array(users.map { .string($0) }), "payload": "AA=="], as: "bob")
        #expect(response.status == .created)
        #expect(fixture.sent.deliveries.count == 3)
        let tooMany = (1...101).map { JSON.string("user\($0)") }
        let refused = await fixture.sendJSON("rich", ["to": .array(tooMany), "payload": "AA=="], as: "bob")
        #expect(refused.status == .badRequest)
    }

    @Test func asJSONItIsTheSame() async throws {
        let fixture = try await Fixture()
        let body: JSON = [
            "to": ["alice"], "message": "hi", "type": "sound", "contentType": "audio/ogg",
            "payload": .string(Base64.encode(picture)), "expiresIn": 60,
        ]
        let id = try #require(await fixture.sendJSON("rich", body, as: "bob").payloadID)
        #expect(fixture.pushes == [["richId: \(id)", "richMessage: hi", "richType: sound"]])
        #expect(try await fetch(fixture, id, as: "alice").content == picture)
        fixture.time.advance(by: .seconds(60))
        #expect(await fetch(fixture, id, as: "alice").status == .notFound)
    }

    @Test func whatIsNotSaidFollowsFromTheRest() async throws {
        let fixture = try await Fixture()
        let form = Form(file: [], type: nil)
        let id = try #require(await fixture.sendRich(form, as: "Bob").payloadID)
        #expect(fixture.pushes == [["richId: \(id)", "richMessage: From bob", "richType: file"]])
        let fetched = await fetch(fixture, id, as: "bob")
        #expect(fetched.fields["content-type"] == "application/octet-stream")
        #expect(fetched.fields["content-disposition"] == "attachment")
        #expect(try await fetched.content == [])
        #expect(await fetch(fixture, id, as: "alice").status == .notFound)
        fixture.time.advance(by: .seconds(7 * 86_400 - 1))
        #expect(await fetch(fixture, id, as: "bob").status == .ok)
        fixture.time.advance(by: .seconds(1))
        #expect(await fetch(fixture, id, as: "bob").status == .notFound)
    }

    @Test(arguments: [
        ("image/png", "img", "inline"), ("IMAGE/PNG; x=\"y\"", "img", "inline"),
        ("image/svg+xml", "img", "attachment"), ("audio/ogg", "sound", "inline"), ("video/mp4", "video", "inline"),
        ("text/uri-list", "url", "attachment"), ("text/plain; charset=utf-8", "text", "inline"),
        ("text/html", "text", "attachment"), ("application/pdf", "file", "attachment"),
    ])
    func aTypeHasItsWordAndOnlyHarmlessOnesAreShown(type: String, word: String, disposition: String) async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendRich(Form(file: picture, type: type), as: "bob").payloadID)
        #expect(fixture.pushes[0].last == "richType: \(word)")
        let fetched = await fetch(fixture, id, as: "bob")
        #expect(fetched.fields["content-type"] == type)
        #expect(fetched.fields["content-disposition"] == disposition)
    }

    @Test func partsAndVersionsAreAnswered() async throws {
        let fixture = try await Fixture()
        let bytes = Array("0123456789".utf8)
        let id = try #require(await fixture.sendRich(Form(file: bytes), as: "bob").payloadID)
        let head = await fetch(fixture, id, as: "bob", .head)
        let tag = try #require(head.fields["etag"])
        #expect(head.fields["accept-ranges"] == "bytes")
        let part = await fetch(fixture, id, as: "bob", fields: ["range": "bytes=2-4"])
        #expect(part.status == 206)
        #expect(try await part.content == Array("234".utf8))
        #expect(part.fields["content-range"] == "bytes 2-4/10")
        #expect(await fetch(fixture, id, as: "bob", fields: ["if-none-match": tag]).status == 304)
        #expect(await fetch(fixture, id, as: "bob", fields: ["if-match": "\"x\""]).status == .preconditionFailed)
        let outside = await fetch(fixture, id, as: "bob", fields: ["range": "bytes=10-"])
        #expect(outside.status == 416)
        #expect(outside.fields["content-range"] == "bytes */10")
        #expect(outside.message.hasSuffix("."))
    }

    @Test(arguments: [
        "bytes=0-1,3-4", "bytes=0-,0-,0-,0-", "bytes=" + Array(repeating: "0-", count: 1000).joined(separator: ","),
        "bytes=0-99999999999999999999", "bytes=4-2", "items=0-1", "bytes=",
    ])
    func rangesThatAreNoneOrManyAreAnsweredWhole(range: String) async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendRich(Form(file: picture), as: "bob").payloadID)
        let response = await fetch(fixture, id, as: "bob", fields: ["range": range])
        #expect(response.status == .ok)
        #expect(try await response.content == picture)
    }

    @Test func fetchingIsReadingAndAskingIsNot() async throws {
        let fixture = try await Fixture()
        let id = try #require(await fixture.sendRich(Form(("to", "alice"), file: picture), as: "bob").payloadID)
        let readers = "/api/notifications/\(id)/readers"
        _ = await fetch(fixture, id, as: "alice", .head)
        _ = await fetch(fixture, id, as: "alice", fields: ["range": "bytes=1000-"])
        #expect(
            try await fixture.ask(.get, readers, as: "bob").json == ["readers": [["user": "alice", "read": .null]]])
        _ = await fetch(fixture, id, as: "alice", fields: ["range": "bytes=0-1"])
        let timestamp = fixture.time.now.iso8601
        fixture.time.advance(by: .seconds(5))
        _ = await fetch(fixture, id, as: "alice")
        #expect(
            try await fixture.ask(.get, readers, as: "bob").json
                == ["readers": [["user": "alice", "read": .string(timestamp)]]])
        #expect(
            try await fixture.audit == Array(repeating: "alice read \(id) from 192.0.2.1", count: 2))
    }

    @Test func everyRecipientMayHaveAPart() async throws {
        let fixture = try await Fixture()
        var form = Form(file: picture)
        let fields = (1...100).map { "------form\r\nContent-Disposition: form-data; name=to\r\n\r\nuser\($0)\r\n" }
        form.bytes = Array(fields.joined().utf8) + form.bytes
        let id = try #require(await fixture.sendRich(form, as: "bob").payloadID)
        let readers = try await fixture.ask(.get, "/api/notifications/\(id)/readers", as: "bob").json
        #expect(readers["readers"]?.array?.count == 100)
    }

    @Test func anEmptyMessageIsNone() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.sendRich(Form(("message", ""), file: picture), as: "bob").status == .created)
        #expect(fixture.pushes[0].contains("richMessage: From bob"))
    }

    @Test func aFileNameCountsForNothing() async throws {
        let fixture = try await Fixture()
        for name in ["../../../etc/passwd", "/etc/passwd", "C:\\\\x", "a/b", "", "."] {
            #expect(await fixture.sendRich(Form(file: picture, name: name), as: "bob").status == .created)
        }
        let names = try fixture.bodies
        #expect(names.count == 6)
        #expect(names.allSatisfy { name in name.utf8.count == 32 && name.allSatisfy(\.isHexDigit) })
    }

    @Test(arguments: [1, 2, 7, 64, 100_000])
    func aFormMayComeInPieces(pieceBytes: Int) async throws {
        let fixture = try await Fixture()
        let form = Form(("to", "alice"), file: picture + Array(repeating: 7, count: 300))
        let response = await fixture.sendRich(form, as: "bob", stream: Pieces(form.bytes, pieceBytes: pieceBytes))
        let id = try #require(response.payloadID)
        #expect(try await fetch(fixture, id, as: "alice").content == picture + Array(repeating: 7, count: 300))
    }
}
