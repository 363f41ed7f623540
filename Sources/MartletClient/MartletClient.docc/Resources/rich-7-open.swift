import Foundation
import MartletClient

/// Returns the path of the content that the user wants to see; nil if there is no content.
func open(_ content: PushContent, client: PushClient) async throws(PushClientError) -> String? {
    await client.opened(content)
    guard case .rich(let reference) = content else { return nil }
    let path = NSTemporaryDirectory() + "/picture-\(reference.id)"
    guard case .content = try await client.fetch(reference, to: path) else { return nil }
    return path
}
