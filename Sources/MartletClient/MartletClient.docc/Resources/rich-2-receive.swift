import Foundation
import MartletClient

/// Returns what to show; nil where there is nothing.
func receive(_ content: PushContent, client: PushClient) async -> NotificationContent? {
    await client.notification(for: content, folder: NSTemporaryDirectory())
}
