import Foundation
import MartletModel
import MartletURLSession
import Synchronization
import Testing

@testable import MartletClient

struct ShowingTests {
    let words = NotificationTexts()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path

    func shown(
        _ push: PushContent, _ server: ScriptedServer, loggedIn: Bool = true
    ) async throws -> NotificationContent? {
        try await Phone(server, loggedIn: loggedIn).client.notification(for: push, folder: folder)
    }

    @Test func aPictureIsShownWithItsMessageAndLeadsToMore() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let push = PushContent.rich(RichReference(id: 7, message: "look", type: "img"))
        let picture = ScriptedServer.Entry.bytes(
            200, [1, 2], ["content-type": "image/png; x=y", "content-length": "2"])
        let content = try #require(try await shown(push, ScriptedServer(.session("T"), picture)))
        #expect(content.body == "look")
        #expect(content.category == "richPush")
        #expect(content.texts == ["richId": "7", "richMessage": "look", "richType": "img"])
        #expect(content.attachment == folder + "/notification-7.png")
        #expect(try Data(contentsOf: URL(fileURLWithPath: content.attachment ?? "")) == Data([1, 2]))
    }

    @Test func contentThatANotificationCannotShowIsRemoved() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let push = PushContent.rich(RichReference(id: 7, message: "read", type: "file"))
        let file = ScriptedServer.Entry.bytes(200, [1, 2], ["content-type": "application/pdf"])
        let content = try #require(try await shown(push, ScriptedServer(.session("T"), file)))
        #expect(content.attachment == nil)
        #expect(content.body == "read")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func aSecretIsShownAndNothingOfItPassesWithoutALogIn() async throws {
        let push = PushContent.secure(SecureReference(id: 8, message: "log in, please"))
        let answer = ScriptedServer.Entry.answer(200, ["Id": 8, "Payload": "the secret", "Read": false])
        #expect(try await shown(push, ScriptedServer(.session("T"), answer))?.body == "the secret")
        #expect(try await shown(push, ScriptedServer(), loggedIn: false)?.body == "log in, please")
        let bare = PushContent.secure(SecureReference(id: 8))
        #expect(try await shown(bare, ScriptedServer(), loggedIn: false)?.body == words.logInNeeded)
        #expect(try await shown(bare, ScriptedServer(.session("T"), .answer(404)))?.body == words.notAvailable)
    }

    @Test func whatTakesTooLongIsShownWithoutItsContent() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: SilentServer(), stores: ClientStores(),
            tokens: ChangeOfUserTests.Provider("A"), retry: RetryPolicy(),
            environment: ClientEnvironment(timeLimit: { _ in }))
        let push = PushContent.rich(RichReference(id: 7, message: "look", type: "img"))
        #expect(await client.notification(for: push, folder: folder)?.body == "look")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func nothingIsSilent() async throws {
        let rich = PushContent.rich(RichReference(id: 7))
        let encrypted = PushContent(data: ["encrypted": "AAAA"])
        #expect(try await shown(rich, ScriptedServer(.session("T"), .answer(404)))?.body == words.notAvailable)
        #expect(try await shown(encrypted, ScriptedServer())?.body == words.notAvailable, "there is no key")
        let stored = PushContent(userInfo: ["aps": ["alert": "A secret."], "encryptedId": "9"])
        #expect(try await shown(stored, ScriptedServer(), loggedIn: false)?.body == "A secret.")
        let text = PushContent(userInfo: ["aps": ["alert": ["title": "T", "body": "B"]]])
        #expect(try await shown(text, ScriptedServer()) == NotificationContent(title: "T", body: "B"))
        #expect(try await shown(.other, ScriptedServer()) == nil)
    }

    @Test func aNotificationIsHandedOverOnce() async throws {
        let shown = Mutex<[String]>([])
        let (done, signal) = AsyncStream.makeStream(of: Void.self)
        let delivery = NotificationDelivery(fallback: NotificationContent(body: "fallback")) { content in
            shown.withLock { $0.append(content.body) }
            signal.yield()
        }
        delivery.begin { NotificationContent(body: "content") }
        for await _ in done { break }
        delivery.expire()
        delivery.expire()
        #expect(shown.withLock { $0 } == ["content"])
    }

    @Test func whereTheTimeIsOverTheFallbackIsShownAndTheWorkEnds() async throws {
        let shown = Mutex<[String]>([])
        let (cancelled, signal) = AsyncStream.makeStream(of: Void.self)
        let delivery = NotificationDelivery(fallback: NotificationContent(body: "fallback")) { content in
            shown.withLock { $0.append(content.body) }
        }
        delivery.begin {
            try? await Task.sleep(for: .seconds(3600))
            signal.yield()
            return NotificationContent(body: "too late")
        }
        delivery.expire()
        #expect(shown.withLock { $0 } == ["fallback"])
        for await _ in cancelled { break }
        #expect(shown.withLock { $0 } == ["fallback"])
    }
}
