/// How a request is known again, so that a repeated one does not send twice.
public struct RequestIdentity: Hashable, Sendable {
    /// How long a request is remembered from its acceptance.
    public static let lifetime: Duration = .seconds(86_400)

    /// A digest of what names the request: the caller's key with all that it is bound to.
    public let key: [UInt8]
    /// A digest of what the request says: under one key it must stay the same.
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

/// What has become of a draft.
public enum Acceptance: Sendable {
    /// It is stored. It has deliveries from now on, unless it waits for its time or there is nobody to deliver it to.
    case accepted(Notification, [Delivery])
    /// The same request has been accepted before, as this notification; nothing was stored.
    case repeated(NotificationID)
    /// Another request has been accepted under the same key; nothing was stored.
    case conflicting
    /// Too much is unfinished; nothing was stored.
    case backlogged(BacklogExcess)
}
