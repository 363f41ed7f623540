/// Identifies a request, so that a repeated request does not send twice.
public struct RequestIdentity: Hashable, Sendable {
    /// How long a request is remembered after its acceptance.
    public static let lifetime: Duration = .seconds(86_400)

    /// A digest of the caller's key and everything that the key is bound to.
    public let key: [UInt8]
    /// A digest of the content of the request, which must stay the same for the same key.
    public let fingerprint: [UInt8]

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - fingerprint: 32 bytes.
    public init(key: [UInt8], fingerprint: [UInt8]) {
        precondition(key.count == 32 && fingerprint.count == 32, "both are digests of 32 bytes")
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// The result of storing a draft.
public enum Acceptance: Sendable {
    /// The notification is stored. It has deliveries, unless it is scheduled or no platform has registrations for it.
    case accepted(Notification, [Delivery])
    /// The same request was accepted before, as this notification; nothing was stored.
    case repeated(NotificationID)
    /// A different request was accepted with the same key; nothing was stored.
    case conflicting
    /// The backlog is full; nothing was stored.
    case backlogged(BacklogExcess)
}
