#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import MartletClient
public import UserNotifications

extension UNMutableNotificationContent {
    /// Sets the title, text, category, `userInfo` and attachment of this content. Use it for the local notification
    /// that an app posts when it handles a silent push.
    ///
    /// ```swift
    /// let content = UNMutableNotificationContent()
    /// content.show(notification)
    /// try await UNUserNotificationCenter.current().add(
    ///     UNNotificationRequest(identifier: UUID().uuidString, content: content, trigger: nil))
    /// ```
    public func show(_ notification: NotificationContent) {
        if let title = notification.title { self.title = title }
        body = notification.body
        if let category = notification.category { categoryIdentifier = category }
        userInfo.merge(notification.texts) { _, new in new }
        if let path = notification.attachment,
            let attachment = try? UNNotificationAttachment(identifier: "", url: URL(fileURLWithPath: path))
        {
            attachments = [attachment]
        }
    }
}

extension UNNotificationCategory {
    /// Returns the category of rich notifications, with its action.
    /// - Parameter more: The title of the action, such as "More".
    public static func rich(more: String) -> UNNotificationCategory {
        UNNotificationCategory(
            identifier: NotificationContent.richCategory,
            actions: [
                UNNotificationAction(
                    identifier: NotificationContent.moreAction, title: more, options: [.foreground])
            ],
            intentIdentifiers: [])
    }
}
#endif
