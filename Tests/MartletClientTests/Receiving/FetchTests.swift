import Foundation
import MartletModel
import Synchronization
import Testing

@testable import MartletClient

struct FetchTests {
    let reference = RichReference(id: 7, message: "look", type: "img")
    let png = ["content-type": "image/png", "content-length": "6", "etag": "\"v1\""]
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6]
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")

    @Test func aRichNotificationIsFetchedIntoMemory() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .bytes(200, bytes, png)))
        let fetched = try await phone.client.fetch(reference)
        #expect(
            fetched
                == .content(
                    RichNotification(
                        id: 7, message: "look", type: "img", contentType: "image/png", content: .bytes(bytes))))
        #expect(phone.server.lines.last == "GET /api/notifications/7")
        #expect(phone.server.requests.last?.fields["authorization"] == "Bearer T")
    }

    @Test func aConnectionThatBreaksIsTakenUpWhereItBroke() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("T"), .bytes(200, [1, 2], png, isWhole: false), .offline,
                .bytes(206, [3, 4, 5, 6], png.merging(["content-range": "bytes 2-5/6"]) { $1 })))
        let path = folder.appendingPathComponent("a/picture.png").path
        let progress = Mutex<[Int64]>([])
        let fetched = try await phone.client.fetch(reference, to: path) { received, total in
            #expect(total == 6)
            progress.withLock { $0.append(received) }
        }
        guard case .content(let notification) = fetched else {
            Issue.record("nobody asked to log in")
            return
        }
        #expect(notification.content == .file(path))
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
        #expect(progress.withLock { $0 } == [1, 2, 3, 4, 5, 6])
        #expect(phone.server.requests.map { $0.fields["range"] } == [nil, nil, "bytes=2-", "bytes=2-"])
        #expect(phone.server.requests.last?.fields["if-range"] == "\"v1\"")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("a").path).count == 1)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aContentThatChangedMeanwhileIsFetchedAnew() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("T"), .bytes(200, [1, 2], png, isWhole: false),
                .bytes(200, bytes, png.merging(["etag": "\"v2\""]) { $1 })))
        let path = folder.appendingPathComponent("picture").path
        _ = try await phone.client.fetch(reference, to: path)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func anotherPartThanWasAskedForIsNotPutBehindTheFirst() async throws {
        let phone = try await Phone(
            ScriptedServer(
                .session("T"), .bytes(200, [1, 2], png, isWhole: false),
                .bytes(206, [4, 5, 6], png.merging(["content-range": "bytes 3-5/6"]) { $1 }),
                .bytes(200, bytes, png)))
        guard case .content(let notification) = try await phone.client.fetch(reference) else { return }
        #expect(notification.content == .bytes(bytes))
    }

    @Test func anAnswerThatIsCutIsNotTakenForTheWhole() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .bytes(200, [1, 2, 3], png)),
            retry: RetryPolicy(attempts: 1, keepsTrying: false))
        let path = folder.appendingPathComponent("picture").path
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.fetch(reference, to: path)
        }
        #expect(error?.kind == .unreachable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func answersThatAreTooLargeForMemoryAreNotCollected() async throws {
        for fields in [png, ["content-type": "image/png"]] {
            let phone = try await Phone(ScriptedServer(.session("T"), .bytes(200, bytes, fields)))
            let error = await #expect(throws: PushClientError.self) {
                try await phone.client.fetch(reference, limit: 5)
            }
            #expect(error?.kind == .contentTooLong)
            #expect(phone.waits.waits.isEmpty)
        }
    }

    @Test func aSecureNotificationIsFetched() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(200, ["Id": 8, "Payload": "the secret", "Read": true])))
        let fetched = try await phone.client.fetch(SecureReference(id: 8))
        #expect(fetched == .content(SecureNotification(id: 8, text: "the secret", wasRead: true)))
        #expect(!"\(fetched) \(String(reflecting: fetched))".contains("the secret"))
    }

    @Test func withoutALogInThereIsSomethingToShow() async throws {
        let phone = try await Phone(ScriptedServer(), loggedIn: false)
        #expect(
            try await phone.client.fetch(SecureReference(id: 8, message: "for you"))
                == .logInNeeded(LogInPrompt(message: "for you")))
        #expect(try await phone.client.fetch(reference) == .logInNeeded(LogInPrompt(message: "look")))
        let expired = try await Phone(ScriptedServer(.session("A"), .answer(401), .answer(401)))
        #expect(try await expired.client.fetch(SecureReference(id: 8)) == .logInNeeded(LogInPrompt(message: nil)))
    }

    @Test func whatIsNotThereIsToldAsSuch() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(404), .answer(404), .answer(404)))
        for _ in 0..<1 {
            let rich = await #expect(throws: PushClientError.self) { try await phone.client.fetch(reference) }
            let secure = await #expect(throws: PushClientError.self) {
                try await phone.client.fetch(SecureReference(id: 8))
            }
            let readers = await #expect(throws: PushClientError.self) { try await phone.client.readers(of: 7) }
            #expect([rich?.kind, secure?.kind, readers?.kind] == [.notFound, .notFound, .notFound])
        }
    }

    @Test func sendersSeeWhoHasRead() async throws {
        let answer: JSON = [
            "readers": [["user": "bob", "read": "2026-11-21T10:00:00.000Z"], ["user": "carol", "read": .null]]
        ]
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, answer)))
        #expect(
            try await phone.client.readers(of: 7) == [
                PayloadReader(user: "bob", readAt: .seconds(1_795_255_200)),
                PayloadReader(user: "carol", readAt: nil),
            ])
    }

    @Test func allReadersAreSeenHoweverManyThereAre() async throws {
        func page(_ names: String..., next: String? = nil) -> ScriptedServer.Entry {
            var members: [String: JSON] = ["readers": .array(names.map { ["user": .string($0), "read": .null] })]
            members["next"] = next.map { .string($0) }
            return .answer(200, .object(members))
        }
        let phone = try await Phone(
            ScriptedServer(.session("T"), page("a", "b c", next: "b c"), page("d", next: "d"), page(next: "d")))
        #expect(try await phone.client.readers(of: 7).map(\.user) == ["a", "b c", "d"])
        let path = "GET /api/notifications/7/readers"
        #expect(phone.server.lines.dropFirst() == [path, "\(path)?after=b%20c", "\(path)?after=d"])
    }
}
