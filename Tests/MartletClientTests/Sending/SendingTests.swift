import Foundation
import MartletModel
import Testing

@testable import MartletClient

struct SendingTests {
    func text(_ upload: ClientUpload) throws -> String {
        var bytes: [UInt8] = []
        try upload.forEachPiece { bytes += $0 }
        #expect(Int64(bytes.count) == upload.length)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aRichNotificationIsAFormWithAFile() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(201, ["id": 7])))
        let id = try await phone.client.sendRich(
            .bytes(Array("<image>".utf8)), to: ["alice", "bob"], message: "look \"here\"", type: "img",
            contentType: "image/png", expiresIn: .seconds(60))
        #expect(id == 7)
        let request = try #require(phone.server.requests.last)
        #expect(phone.server.lines.last == "POST /api/notifications/rich")
        let type = try #require(request.fields["content-type"])
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        let boundary = type.dropFirst("multipart/form-data; boundary=".count)
        let parts = try text(try #require(request.upload)).components(separatedBy: "--\(boundary)")
        func field(_ name: String, _ value: String) -> String {
            "\r\ncontent-disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        #expect(
            parts == [
                "", field("to", "alice"), field("to", "bob"), field("message", "look \"here\""), field("type", "img"),
                field("expiresIn", "60"),
                "\r\ncontent-disposition: form-data; name=\"file\"; filename=\"file\"\r\ncontent-type: image/png\r\n\r\n"
                    + "<image>\r\n",
                "--\r\n",
            ])
    }

    @Test func oneCallSendsToAllPlatforms() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(200, ["id": "7", "ids": ["apns": "7", "wns": "8"]])))
        #expect(try await phone.client.send("hi", to: "bob") == [.apns: "7", .wns: "8"])
        #expect(phone.server.lines.last == "POST /api/notifications?pns=all&to_tag=bob")
    }

    @Test(arguments: [["ok": true], "", ["id": 7, "ids": "7"]] as [JSON])
    func anAnswerWithoutAnIDIsAProblemOfTheServer(_ answer: JSON) async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, answer), .answer(200, answer)))
        let one = await #expect(throws: PushClientError.self) {
            try await phone.client.send("hi", to: "bob", platform: .apns)
        }
        let all = await #expect(throws: PushClientError.self) { try await phone.client.send("hi", to: "bob") }
        #expect(one?.kind == .serverProblem(status: 200))
        #expect(all?.kind == .serverProblem(status: 200))
    }

    @Test func aMessageGoesToUsersAsOneNotification() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(201, ["id": "18f"])))
        var message = Message(text: ["en": "Hello", "de": "Hallo"], language: "en")
        message.data["room"] = "17"
        message.badge = .increment
        message.actions = [Message.Action(id: "go", title: "Go")]
        #expect(try await phone.client.send(message, to: ["alice", "bob"]) == "18f")
        #expect(phone.server.lines.last == "POST /api/notifications/message")
        let body = try JSON(parsing: try #require(phone.server.requests.last?.body))
        #expect(
            body == [
                "to": ["alice", "bob"],
                "message": [
                    "text": ["en": "Hello", "de": "Hallo"], "language": "en", "data": ["room": "17"], "badge": "+1",
                    "actions": [["id": "go", "title": "Go"]],
                ],
            ])
    }

    @Test func aFileIsReadWhileItIsSentAndItsNameIsNotTold() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("private-\(UUID().uuidString).bin")
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(201, ["id": 7])))
        try await phone.client.sendRich(.file(file.path), to: .me, contentType: "application/octet-stream")
        let upload = try #require(phone.server.requests.last?.upload)
        var bytes = Data()
        try upload.forEachPiece {
            #expect($0.count <= ClientUpload.pieceByteCount)
            bytes += $0
        }
        #expect(bytes.range(of: content) != nil)
        #expect(bytes.range(of: Data("private-".utf8)) == nil)
        #expect(bytes.range(of: Data("name=\"to\"".utf8)) == nil)
    }

    @Test func anyPlaceOfAFormCanBeRead() throws {
        let form = ClientUpload("abc".utf8).followed(by: ClientUpload("".utf8)).followed(by: ClientUpload("defg".utf8))
        for start in 0..<7 {
            for end in (start + 1)...7 {
                let part = try form.read(Int64(start), end - start)
                #expect(part == Array(Array("abcdefg".utf8)[start..<end]))
            }
        }
    }

    @Test func aFileThatIsNotThereIsToldBeforeAnythingIsAsked() async throws {
        let phone = try await Phone(ScriptedServer())
        for path in ["/nowhere/at/all", FileManager.default.temporaryDirectory.path] {
            let error = await #expect(throws: PushClientError.self) {
                try await phone.client.sendRich(.file(path), to: "bob", contentType: "image/png")
            }
            #expect(error?.kind == .storageProblem)
        }
        let type = await #expect(throws: PushClientError.self) {
            try await phone.client.sendRich(.bytes([]), to: "bob", contentType: "image/png\r\nx: y")
        }
        #expect(type?.kind == .refused(status: 400))
        #expect(phone.server.requests.isEmpty)
    }

    @Test func aSecureNotificationSaysWhatItIs() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(201, ["id": 8]), .answer(201, ["id": 9])))
        let id = try await phone.client.sendSecure(
            "the secret", to: "bob", message: "log in", once: true, expiresIn: .seconds(3600))
        #expect(id == 8)
        try await phone.client.sendSecure("the secret", to: .tags("news && !muted"))
        let bodies = try phone.server.requests.dropFirst().map { try JSON(parsing: try #require($0.body)) }
        #expect(
            bodies == [
                ["to": ["bob"], "payload": "the secret", "message": "log in", "once": true, "expiresIn": 3600],
                ["tags": "news && !muted", "payload": "the secret", "once": false],
            ])
    }

    @Test func aMessageWithoutRecipientsIsNotSentToTheSender() async throws {
        let phone = try await Phone(ScriptedServer())
        let rich = await #expect(throws: PushClientError.self) {
            try await phone.client.sendRich(.bytes([1]), to: [], contentType: "image/png")
        }
        let secure = await #expect(throws: PushClientError.self) {
            try await phone.client.sendSecure("s", to: .users([]))
        }
        #expect([rich?.kind, secure?.kind] == [.refused(status: 400), .refused(status: 400)])
        #expect(phone.server.requests.isEmpty)
    }

    @Test func nothingIsSentTwiceUnknowingly() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .failure(.timedOut), .answer(201, ["id": 8])))
        let error = await #expect(throws: PushClientError.self) { try await phone.client.sendSecure("x", to: "bob") }
        #expect(error?.kind == .unreachable)
        #expect(phone.server.requests.count == 2)
    }

    @Test func refusalsAreInTheServersWords() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("T"), .answer(413, ["code": 41301, "message": "Over quota."]),
                .answer(403, ["code": 40300, "message": "Not you."])))
        let quota = await #expect(throws: PushClientError.self) {
            try await phone.client.sendRich(.bytes([1]), to: "bob", contentType: "image/png")
        }
        #expect(quota?.kind == .messageTooLong)
        #expect(quota?.message == "Over quota.")
        let policy = await #expect(throws: PushClientError.self) { try await phone.client.sendSecure("x", to: "bob") }
        #expect(policy?.kind == .refused(status: 403))
        #expect(policy?.message == "Not you.")
    }
}
