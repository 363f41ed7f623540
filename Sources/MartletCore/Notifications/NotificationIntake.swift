public import MartletModel

/// The one way in which notifications are accepted. What it returns is on disk and will be delivered.
public struct NotificationIntake: Sendable {
    private let store: any NotificationStore
    private let platforms: PushPlatformList
    private let time: any TimeSource
    private let lifetime: Duration
    private let accepted: @Sendable (Notification) -> Void

    /// - Parameters:
    ///   - lifetime: How long delivery is tried where the message does not say.
    ///   - accepted: Told of every notification after it was stored.
    public init(
        store: any NotificationStore, platforms: PushPlatformList, time: any TimeSource,
        lifetime: Duration = .seconds(86_400), accepted: @escaping @Sendable (Notification) -> Void
    ) {
        self.store = store
        self.platforms = platforms
        self.time = time
        self.lifetime = lifetime
        self.accepted = accepted
    }

    /// Takes a message for delivery.
    /// - Throws: `NotificationIntakeError`; then nothing will be sent.
    public func accept(
        _ message: Message, on platform: PlatformID, to target: Notification.Target, in hub: Hub.ID
    ) async throws(NotificationIntakeError) -> Notification {
        guard let known = platforms[platform] else { throw .invalid("There is no platform '\(platform)'.") }
        do throws(PushServiceError) {
            try known.check(message)
            if case .direct(let handle) = target { _ = try known.key(of: handle) }
        } catch {
            throw error.kind == .messageTooLarge ? .tooLarge(error.description) : .invalid(error.description)
        }
        let now = time.now
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub, platform: platform, target: target, message: message,
            acceptedAt: now, expiresAt: now + lifetime)
        do throws(StorageError) {
            let notification = try await store.accept(draft)
            accepted(notification)
            return notification
        } catch {
            throw .storage(error)
        }
    }

    /// What is known of a notification, or nil where the hub has none of this id.
    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await store.report(id, in: hub)
    }
}

/// Why a notification was not accepted.
public enum NotificationIntakeError: Error, Sendable {
    /// The input is wrong; the sentence says how.
    case invalid(String)
    /// The message is larger than the push service takes; the sentence names the limit.
    case tooLarge(String)
    case storage(StorageError)
}
