import MartletClient
import MartletURLSession
import UserNotifications

func prepareCategory() {
    UNUserNotificationCenter.current().setNotificationCategories([.rich(more: "More")])
}

func show(_ shown: NotificationContent) async throws {
    let content = UNMutableNotificationContent()
    content.show(shown)
    try await UNUserNotificationCenter.current().add(
        UNNotificationRequest(identifier: UUID().uuidString, content: content, trigger: nil))
}
