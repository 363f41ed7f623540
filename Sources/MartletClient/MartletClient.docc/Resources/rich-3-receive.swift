import Foundation
import MartletClient

/// Returns the content to show; nil if there is none.
func receive(_ content: PushContent, client: PushClient) async -> NotificationContent? {
    let shown = await client.notification(for: content, folder: NSTemporaryDirectory())
    await client.received(content)
    return shown
}
