/// Identifies a request, so that repeating the request does not send the notification twice.
public struct RequestIdentity: Hashable, Sendable {
    /// How long a request is remembered after it was accepted.
    public static let lifetime: Duration = .seconds(86_400)

    /// A digest of the key that identifies the request, and of the scope in which the key is valid, such as the hub,
    /// the caller and the path.
    public let key: [UInt8]
    /// A digest of the content of the request. Repeated requests with the same key must have the same content.
    public let fingerprint: [UInt8]

    /// - Parameters:
    ///   - key: The digest of the key, 32 bytes.
    ///   - fingerprint: The digest of the content, 32 bytes.
    public init(key: [UInt8], fingerprint: [UInt8]) {
        precondition(key.count == 32 && fingerprint.count == 32, "both are digests of 32 bytes")
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// The result of storing a draft.
public enum Acceptance: Sendable {
    /// The notification is stored, and its deliveries begin. It has no deliveries if it is scheduled, or if there are
    /// no registrations for it on any platform. If scheduled notifications have begun in the same transaction, their
    /// deliveries come first (`NotificationStore.accept`).
    case accepted(Notification, [Delivery])
    /// The request repeats one that was accepted earlier. The value is the id of the earlier notification. Nothing new
    /// was stored.
    case repeated(NotificationID)
    /// Another request with the same idempotency key, but different content, was accepted earlier. Nothing new was
    /// stored.
    case conflicting
    /// The backlog is full; nothing was stored.
    case backlogged(BacklogExcess)
}
