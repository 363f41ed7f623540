/// Makes message ids. The key is the server's own, so that ids tell a push service nothing about its notifications.
public struct MessageIDKey: Sendable {
    private let first: UInt64
    private let second: UInt64

    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// The ids of the pushes that bring a notification to its audience.
    func ids(of notification: NotificationID) -> MessageIDs {
        var hash = SipHash(key: (first, second))
        hash.combine(notification.high)
        hash.combine(notification.low)
        return MessageIDs(notification: hash)
    }
}

/// The ids of the pushes of one notification.
struct MessageIDs: Sendable {
    /// What all of them begin with, hashed once.
    fileprivate let notification: SipHash

    /// The id of the push to a member of the audience.
    subscript(member: AudienceMember) -> MessageID {
        var hash = notification
        hash.combine(UInt64(bitPattern: member.number))
        let (high, low) = hash.finalize()
        return MessageID(high: high, low: low)
    }
}
