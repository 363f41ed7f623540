/// Makes message ids. The key is the server's own, so that ids tell a push service nothing about its notifications.
public struct MessageIDKey: Sendable {
    private let first: UInt64
    private let second: UInt64

    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// The id of the push that brings a notification to a member of its audience.
    func id(of notification: NotificationID, to member: AudienceMember) -> MessageID {
        var hash = SipHash(key: (first, second))
        hash.combine(notification.high)
        hash.combine(notification.low)
        hash.combine(UInt64(bitPattern: member.number))
        let (high, low) = hash.finalize()
        return MessageID(high: high, low: low)
    }
}
