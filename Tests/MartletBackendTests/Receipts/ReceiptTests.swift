import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct ReceiptTests {
    @Test func aDeviceTellsWhatBecameOfATextAndTheFirstWordCounts() async throws {
        let fixture = try await Fixture()
        let id = try await fixture.register("bob1", as: "bob")
        let text = try await Self.text(to: "bob", fixture)
        fixture.time.advance(by: .seconds(600))
        for time in ["2001-01-01T00:00:00Z", "2001-01-02T00:00:00Z"] {
            let response = await Self.post(
                id, [(text.description, "received", time), (text.description, "opened", time)], as: "bob", fixture)
            #expect(response.status == .noContent && response.bytes.isEmpty)
        }
        let receipts = try await Self.receipts(of: .notification(text), fixture)
        #expect(Set(receipts.map(\.event)) == [.received, .opened])
        #expect(receipts.allSatisfy { $0.device == id && $0.user == "bob" })
        #expect(receipts.allSatisfy { $0.at == Timestamp(iso8601: "2001-01-01T00:00:00Z") })
    }

    @Test(arguments: [#""to": "bob""#, #""tags": "username:bob""#])
    func aComposedMessageHasReceiptsOfTheDevicesOfEveryPlatform(recipient: String) async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("root", password: "root1", roles: ["admin"])
        let handles = ["pigeon": "bob1", "apns": String(repeating: "ab", count: 32)]
        var devices: Set<String> = []
        for (platform, handle) in handles {
            devices.insert(try await fixture.register(handle, as: "bob", platform: platform))
        }
        let response = await fixture.ask(
            .post, "/api/notifications/message", as: "root", "{\(recipient), \"message\": {\"text\": \"hello\"}}")
        let id = try #require(NotificationID(try response.json["id"]?.string ?? ""))
        for device in devices {
            let receipt = [(id.description, "opened", "2001-01-01T00:00:00Z")]
            #expect(await Self.post(device, receipt, as: "bob", fixture).status == .noContent)
        }
        #expect(Set(try await Self.receipts(of: .notification(id), fixture).map(\.device)) == devices)
    }

    @Test func aPayloadHasReceiptsOfItsDevice() async throws {
        let fixture = try await Fixture()
        let phone = try await fixture.registerKeyed("bob1", as: "bob")
        let other = try await fixture.registerKeyed("bob2", as: "bob")
        let response = await fixture.sendEncrypted(
            [try phone.entry(String(repeating: "x", count: 1000))], to: "bob", as: "alice")
        let number = try #require(try response.json["devices"]?.array?.first?["id"]?.integer)
        for device in [phone, other] {
            _ = await Self.post(device.id, [(String(number), "opened", "2001-01-01T00:00:00Z")], as: "bob", fixture)
        }
        let id = try #require(PayloadID(String(number)))
        #expect(try await Self.receipts(of: .payload(id), fixture).map(\.device) == [phone.id])
    }

    @Test func payloadsOfOthersAreLeftOutWithoutAHint() async throws {
        let fixture = try await Fixture()
        let bobs = try await fixture.register("bob1", as: "bob")
        let carols = try await fixture.register("carol1", as: "carol")
        let text = try await Self.text(to: "bob", fixture)
        let unknown = NotificationID(at: fixture.time.now)
        for (device, notification) in [(bobs, text), (carols, text), (carols, unknown), ("none", text)] {
            let receipt = [(notification.description, "opened", "2001-01-01T00:00:00Z")]
            #expect(await Self.post(device, receipt, as: "carol", fixture).status == .noContent)
        }
        #expect(try await Self.receipts(of: .notification(text), fixture).isEmpty)
        #expect(try await Self.receipts(of: .notification(unknown), fixture).isEmpty)
        #expect(await Self.post(bobs, [], as: nil, fixture).status == .unauthorized)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"device":"1"}"#, #"{"device":"1","receipts":[]}"#, #"{"device":"a b","receipts":[OK]}"#,
        #"{"device":1,"receipts":[OK]}"#, #"{"device":"","receipts":[OK]}"#, #"{"device":"1","receipts":[1]}"#,
        #"{"device":"1","receipts":[OK,{"notification":"7","event":"read","at":"2001-01-01T00:00:00Z"}]}"#,
        #"{"device":"1","receipts":[{"notification":"0","event":"opened","at":"2001-01-01T00:00:00Z"}]}"#,
        #"{"device":"1","receipts":[{"notification":"2147483648","event":"opened","at":"2001-01-01T00:00:00Z"}]}"#,
        #"{"device":"1","receipts":[{"notification":7,"event":"opened","at":"2001-01-01T00:00:00Z"}]}"#,
        #"{"device":"1","receipts":[{"notification":"7","event":"opened","at":"yesterday"}]}"#,
        #"{"device":"1","receipts":[{"notification":"7","event":"opened"}]}"#, #"{"device":"1","receipts":[MANY]}"#,
    ])
    func badInputIsRefusedInASentence(body: String) async throws {
        let fixture = try await Fixture()
        let receipt = #"{"notification":"7","event":"opened","at":"2001-01-01T00:00:00Z"}"#
        let many = Array(repeating: receipt, count: 501).joined(separator: ",")
        let text = body.replacing("OK", with: receipt).replacing("MANY", with: many)
        let response = await fixture.ask(.post, "/api/receipts", as: "bob", text)
        #expect(try response.json["code"] == 40001)
        #expect(response.message.hasSuffix("."))
    }

    private static func text(to user: String, _ fixture: Fixture) async throws -> NotificationID {
        let response = await fixture.ask(
            .post, "/api/notifications?pns=pigeon&to_tag=" + user, as: "alice", #""hello""#)
        return try #require(NotificationID(try response.json["id"]?.string ?? ""))
    }

    private static func post(
        _ device: String, _ receipts: [(String, String, String)], as user: String?, _ fixture: Fixture
    ) async -> HTTPResponse {
        let entries = receipts.map { notification, event, at in
            JSON.object(["notification": .string(notification), "event": .string(event), "at": .string(at)])
        }
        let body: JSON = ["device": .string(device), "receipts": .array(entries)]
        return await fixture.ask(.post, "/api/receipts", as: user, body.text)
    }

    private static func receipts(of subject: Receipt.Subject, _ fixture: Fixture) async throws -> [DeviceReceipt] {
        let hub = try #require(fixture.hubs.all.first)
        return try await fixture.storage.receipts(of: subject, in: hub.id, after: nil, limit: 100)
    }
}
