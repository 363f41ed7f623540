import MartletCore
import MartletModel

@testable import MartletStorage

extension SQLiteStorage {
    /// Accepts a broadcast that begins at once on one platform.
    func broadcast(
        of body: [UInt8] = [1], to expression: TagExpression? = nil,
        on platform: PlatformID = .init(rawValue: "pigeon"),
        in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Delivery {
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub, content: .native(platform, Message(body: body)),
            target: .audience(expression), acceptedAt: now, expiresAt: now + .seconds(60))
        guard case .accepted(_, let deliveries) = try await accept(draft), deliveries.count == 1 else {
            throw StorageError(.unavailable, "a new notification was not accepted")
        }
        return deliveries[0]
    }
}
