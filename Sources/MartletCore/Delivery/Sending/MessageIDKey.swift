/// The secret key from which message ids are generated. Only the server knows this key, so a push service cannot learn
/// anything about notifications from message ids.
public struct MessageIDKey: Sendable {
    private let first: UInt64
    private let second: UInt64

    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    func ids(of notification: NotificationID) -> MessageIDs { MessageIDs(notification: hash(of: notification)) }

    /// Returns the hash that decides which members of a notification's audience are in its sample.
    public func sampleHash(of notification: NotificationID) -> SampleHash { SampleHash(hash(of: notification)) }

    private func hash(of notification: NotificationID) -> SipHash {
        var hash = SipHash(key: (first, second))
        hash.combine(notification.high)
        hash.combine(notification.low)
        return hash
    }
}

/// The ids of the pushes of one notification.
struct MessageIDs: Sendable {
    /// The state of the hash after the id of the notification was added. This id comes first in the input of every
    /// message id.
    fileprivate let notification: SipHash

    /// The message id of the push to a member.
    subscript(member: AudienceMember) -> MessageID {
        var hash = notification
        hash.combine(UInt64(bitPattern: member.number))
        let (high, low) = hash.finalize()
        return MessageID(high: high, low: low)
    }
}
