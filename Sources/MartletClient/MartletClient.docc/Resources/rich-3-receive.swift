import Foundation
import MartletClient

/// Returns what to show; nil where there is nothing.
func receive(_ content: PushContent, client: PushClient) async -> NotificationContent? {
    let shown = await client.notification(for: content, folder: NSTemporaryDirectory())
    await client.received(content)
    return shown
}
