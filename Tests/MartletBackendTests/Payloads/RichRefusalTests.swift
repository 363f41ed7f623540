import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

/// What is refused leaves nothing behind: no record, no body, no push.
struct RichRefusalTests {
    let file: [UInt8] = Array(repeating: 1, count: 100)

    func expectNothing(_ fixture: Fixture) throws {
        #expect(fixture.sent.deliveries.isEmpty)
        #expect(try fixture.bodies.isEmpty)
    }

    @Test(arguments: [HTTPBodyError.disconnected, .stalled, .malformed, .tooLarge])
    func anUploadThatIsCutOffLeavesNothing(error: HTTPBodyError) async throws {
        let fixture = try await Fixture()
        let form = Form(("to", "alice"), file: file)
        for length in stride(from: 0, to: form.bytes.count, by: 13) {
            let stream = Pieces(Array(form.bytes[..<length]), pieceBytes: 32, end: error)
            let response = await fixture.sendRich(form, as: "bob", stream: stream)
            #expect(response.status == (error == .stalled ? .requestTimeout : .badRequest))
        }
        let short = Pieces(Array(form.bytes.dropLast(10)), pieceBytes: 32)
        #expect(await fixture.sendRich(form, as: "bob", stream: short).status == .badRequest)
        try expectNothing(fixture)
    }

    @Test func aBodyThatIsTooLargeIsRefusedWhileItArrives() async throws {
        let fixture = try await Fixture(settings: BackendSettings(payloads: PayloadSettings(sizeLimit: 99)))
        let form = Form(file: Array(repeating: 1, count: 100_000))
        let stream = Pieces(form.bytes, pieceBytes: 64)
        let response = await fixture.sendRich(form, as: "bob", stream: stream)
        #expect(response.status == .contentTooLarge)
        #expect(response.message.contains("99"))
        #expect(stream.unread > 1500)
        let announced = Pieces([1], pieceBytes: 1)
        let refused = await fixture.sendRich(
            form, as: "bob", fields: ["content-length": "10000000000"], stream: announced)
        #expect(refused.status == .contentTooLarge)
        #expect(announced.unread == 1)
        try expectNothing(fixture)
        #expect(await fixture.sendRich(Form(file: Array(file.dropLast())), as: "bob").status == .created)
    }

    @Test func tooManyRecipientsAreRefusedAsTheyCome() async throws {
        let fixture = try await Fixture()
        let commas = String(repeating: ",", count: 90)
        let form = Form(("to", commas), ("to", commas), file: Array(repeating: 1, count: 100_000))
        let stream = Pieces(form.bytes, pieceBytes: 64)
        let response = await fixture.sendRich(form, as: "bob", stream: stream)
        #expect(response.status == .badRequest)
        #expect(response.message.contains("1 to 100"))
        #expect(stream.unread > 1500)
        try expectNothing(fixture)
    }

    @Test func emptyFilesHaveAQuotaToo() async throws {
        let quota = 2 * StoredPayload.recordSize
        let fixture = try await Fixture(settings: BackendSettings(payloads: PayloadSettings(quota: quota)))
        let empty = Form(file: [])
        for _ in 0..<2 { #expect(await fixture.sendRich(empty, as: "bob").status == .created) }
        let refused = await fixture.sendRich(empty, as: "bob")
        #expect(try refused.json["code"]?.integer == 41301)
        #expect(try fixture.bodies.count == 2)
    }

    @Test func aSendersPayloadsHaveAQuotaUntilTheyExpire() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(payloads: PayloadSettings(quota: 250 + 2 * StoredPayload.recordSize)))
        let form = Form(("expiresIn", "60"), file: file)
        #expect(await fixture.sendRich(form, as: "bob").status == .created)
        #expect(await fixture.sendRich(form, as: "bob").status == .created)
        let refused = await fixture.sendRich(form, as: "bob")
        #expect(refused.status == .contentTooLarge)
        #expect(try refused.json["code"]?.integer == 41301)
        #expect(try fixture.bodies.count == 2)
        #expect(fixture.pushes.count == 2)
        #expect(await fixture.sendRich(form, as: "alice").status == .created)
        fixture.time.advance(by: .seconds(60))
        #expect(await fixture.sendRich(form, as: "bob").status == .created)
    }

    @Test func uploadsUnderWayCountTogether() async throws {
        let ledger = UploadLedger()
        #expect(ledger.add(60, of: "bob", limit: 100))
        #expect(!ledger.add(50, of: "bob", limit: 100))
        #expect(ledger.add(50, of: "alice", limit: 100))
        #expect(ledger.add(40, of: "bob", limit: 100))
        ledger.remove(60, of: "bob")
        #expect(ledger.add(60, of: "bob", limit: 100))
    }

    @Test(arguments: ["gzip", "deflate, gzip", "br", "identity, gzip"])
    func anEncodedBodyIsRefused(encoding: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.sendRich(Form(file: file), as: "bob", fields: ["content-encoding": encoding])
        #expect(response.status == 415)
        try expectNothing(fixture)
    }

    @Test(arguments: ["image/png", "multipart/mixed; boundary=----form", "text/plain", "", ";"])
    func anotherFormOfBodyIsRefused(type: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.sendRich(Form(file: file), as: "bob", fields: ["content-type": type])
        #expect(response.status == 415)
        #expect(response.message.contains("multipart/form-data"))
        try expectNothing(fixture)
    }

    @Test(arguments: [
        [("to", "")], [("to", "alice,,bob")], [("to", "a b")], [("to", "alice"), ("tags", "news")],
        [("to", "username:alice")], [("message", "a"), ("message", "b")], [("type", "IMG")], [("type", "")],
        [("type", String(repeating: "a", count: 33))], [("type", "../x")], [("expiresIn", "0")],
        [("expiresIn", "1.5")], [("expiresIn", "2592001")], [("expiresIn", "1"), ("expiresIn", "1")],
        [("expiresIn", "")],
    ])
    func aWrongFieldIsRefusedInASentence(fields: [(String, String)]) async throws {
        let fixture = try await Fixture()
        var form = Form(file: file)
        form.bytes =
            fields.flatMap { name, value in
                Array("------form\r\nContent-Disposition: form-data; name=\(name)\r\n\r\n\(value)\r\n".utf8)
            } + form.bytes
        let response = await fixture.sendRich(form, as: "bob")
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
        try expectNothing(fixture)
    }

    @Test(arguments: ["image", "image/", "/png", "image/png/x", "im age/png", "image/png; x", "image/pñg"])
    func aContentTypeThatIsNoneIsRefused(type: String) async throws {
        let fixture = try await Fixture()
        #expect(await fixture.sendRich(Form(file: file, type: type), as: "bob").status == .badRequest)
        try expectNothing(fixture)
    }

    @Test func oneFileIsNeeded() async throws {
        let fixture = try await Fixture()
        #expect(await fixture.sendRich(Form(("to", "alice")), as: "bob").status == .badRequest)
        var two = Form(file: file)
        two.bytes = Array(two.bytes.dropLast(14)) + two.bytes
        #expect(await fixture.sendRich(two, as: "bob").status == .badRequest)
        try expectNothing(fixture)
    }

    @Test(arguments: [
        "{}", "[]", "", #"{"payload":1}"#, #"{"payload":"AA="}"#, #"{"payload":"****"}"#,
        #"{"payload":"AA==","to":1}"#, #"{"payload":"AA==","to":[]}"#, #"{"payload":"AA==","to":["bob",1]}"#,
        #"{"payload":"AA==","to":"a b"}"#, #"{"payload":"AA==","contentType":"x"}"#,
        #"{"payload":"AA==","expiresIn":"1"}"#, #"{"payload":"AA==","expiresIn":0}"#, #"{"payload":"AA==","tags":""}"#,
        #"{"payload":"AA==","message":1}"#, #"{"payload":"AA==","Payload":"AA=="}"#,
    ])
    func wrongJSONIsRefusedInASentence(body: String) async throws {
        let fixture = try await Fixture()
        let response = await fixture.ask(.post, "/api/notifications/rich", as: "bob", body)
        #expect(response.status == .badRequest)
        #expect(response.message.hasSuffix("."))
        try expectNothing(fixture)
    }

    @Test func aLargePayloadIsNotForJSON() async throws {
        let fixture = try await Fixture()
        let payload = JSON.string(Base64.encode(Array(repeating: 0, count: (1 << 20) + 1)))
        let response = await fixture.sendJSON("rich", ["payload": payload], as: "bob")
        #expect(response.status == .contentTooLarge)
        #expect(response.message.contains("multipart/form-data"))
        try expectNothing(fixture)
    }

    @Test func aMessageThatFitsNoPushLeavesNothing() async throws {
        let fixture = try await Fixture()
        let long = String(repeating: "x", count: 1000)
        let response = await fixture.sendRich(Form(("message", long), file: file), as: "bob")
        #expect(response.status == .contentTooLarge)
        #expect(response.message.contains("1000"))
        try expectNothing(fixture)
    }

    @Test func aPartlyAnnouncedPayloadIsWithdrawn() async throws {
        let fixture = try await Fixture(sendsTo: ["apns", "pigeon"], roomForNotifications: 1)
        let refused = await fixture.sendRich(Form(("to", "alice"), file: file), as: "bob")
        #expect(refused.status == 507)
        #expect(try fixture.bodies.isEmpty)
        let announced = try #require(fixture.sent.deliveries.first).notification.content.body
        let text = String(decoding: announced, as: UTF8.self)
        let id = try #require(text.split(whereSeparator: { !$0.isNumber }).compactMap { PayloadID($0) }.last)
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "alice").status == .notFound)
        #expect(try await fixture.storage.payloadSize(sentBy: "bob", at: fixture.time.now) == 0)
    }

    @Test func overQuotaIsSaidBeforeAnythingIsRead() async throws {
        let fixture = try await Fixture(
            settings: BackendSettings(payloads: PayloadSettings(quota: 100 + StoredPayload.recordSize)))
        let form = Form(file: file)
        let large = Pieces(form.bytes, pieceBytes: 1000)
        let refused = await fixture.sendRich(
            form, as: "bob", fields: ["content-length": "8000000"], stream: large)
        #expect(try refused.json["code"]?.integer == 41301)
        #expect(large.unread == 1)
        #expect(await fixture.sendRich(form, as: "bob").status == .created)
        let more = Pieces(form.bytes, pieceBytes: 1000)
        #expect(await fixture.sendRich(form, as: "bob", stream: more).status == .contentTooLarge)
        #expect(more.unread == 1)
    }

    @Test func aHubWithoutCredentialsIsSaidBeforeAnythingIsRead() async throws {
        let fixture = try await Fixture(sendsTo: [])
        let form = Form(file: file)
        let stream = Pieces(form.bytes, pieceBytes: 1000)
        let response = await fixture.sendRich(form, as: "bob", stream: stream)
        #expect(response.status == .serviceUnavailable)
        #expect(response.message.contains("credential"))
        #expect(stream.unread == 1)
        try expectNothing(fixture)
    }

    @Test func withoutCredentialsNothingIsRead() async throws {
        let fixture = try await Fixture()
        let stream = Pieces(file, pieceBytes: 10)
        var request = HTTPRequest(.post, "/api/notifications/rich", fields: ["content-type": Form.contentType])
        request.stream = stream
        #expect(await fixture.handler.respond(to: request).status == .unauthorized)
        #expect(stream.unread == 10)
    }
}
