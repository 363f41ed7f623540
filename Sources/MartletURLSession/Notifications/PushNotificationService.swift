#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import MartletClient
public import UserNotifications

/// A notification service extension.
///
/// It decrypts content that was encrypted for this device, fetches content that a push only announced, and sends the
/// receipt. If the system's time limit ends first, it shows a fallback: the text that the push itself contains, or a
/// text of `words`.
///
/// The principal class of the extension is a subclass that says which client to use:
///
/// ```swift
/// final class NotificationService: PushNotificationService {
///     override func makeClient() -> PushClient? {
///         guard let server = try? ServerAddress("https://push.example.org") else { return nil }
///         return PushClient(
///             server: server, transport: URLSessionTransport(),
///             stores: .system(
///                 service: "org.example.app", accessGroup: "TEAM.org.example.app", appGroup: "group.org.example.app",
///                 process: "notification-service"),
///             encryption: encryption)
///     }
/// }
/// ```
open class PushNotificationService: UNNotificationServiceExtension {
    private var delivery: NotificationDelivery?

    /// Returns the client that fetches and decrypts content. If it is nil, every push is shown as it was received.
    /// Subclasses override this method.
    open func makeClient() -> PushClient? { nil }

    /// The SDK's own texts, which are English by default.
    ///
    /// A subclass can override this property to return texts in the user's language.
    open var words: NotificationTexts { NotificationTexts() }

    /// Computes the content to show, and passes it to the system.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let push = PushContent(userInfo: request.content.userInfo)
        guard let client = makeClient(), let fallback = NotificationContent(push, words: words) else {
            return contentHandler(request.content)
        }
        let handler = ContentHandler(original: request.content, show: contentHandler)
        let delivery = NotificationDelivery(fallback: fallback) { handler.show($0) }
        self.delivery = delivery
        delivery.begin { [words] in
            // The receipt is sent while the content is fetched. The notification is passed to the system only after
            // both have ended, because the system stops this process soon after it has received the notification.
            async let receipt: Void = client.received(push, within: .seconds(5))
            let content = await client.notification(for: push, folder: NSTemporaryDirectory(), words: words)
            await receipt
            return content
        }
    }

    /// Shows the fallback, because the system's time limit ends.
    open override func serviceExtensionTimeWillExpire() {
        delivery?.expire()
    }
}

/// The system's handler for the content of a notification, together with the content that was received.
///
/// `@unchecked Sendable`: `NotificationDelivery` calls the handler once, and no other code has references to the two
/// values.
private struct ContentHandler: @unchecked Sendable {
    let original: UNNotificationContent
    let handler: (UNNotificationContent) -> Void

    init(original: UNNotificationContent, show handler: @escaping (UNNotificationContent) -> Void) {
        self.original = original
        self.handler = handler
    }

    func show(_ content: NotificationContent) {
        guard let changed = original.mutableCopy() as? UNMutableNotificationContent else { return handler(original) }
        changed.show(content)
        handler(changed)
    }
}
#endif
