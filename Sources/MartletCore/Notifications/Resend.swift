public import MartletModel

/// What makes a notification one that sends dead letters again: its audience is whom another one did not reach, as far as
/// they are still registered and still in the audience of that.
public struct Resend: Hashable, Sendable {
    /// The sequence number of the notification whose dead letters it sends.
    public var original: Int64
    /// Only those that ended this way; nil: all that no earlier resend has taken up.
    public var outcome: OutcomeName?
    /// With a collapse key, the delivery as which it is ordered: what it brings is as old as that one's. Of a resend of a
    /// resend it is the first original's.
    public var rank: Delivery.ID?

    public init(original: Int64, outcome: OutcomeName?, rank: Delivery.ID? = nil) {
        self.original = original
        self.outcome = outcome
        self.rank = rank
    }
}

/// A wish to send dead letters again.
public struct ResendDraft: Sendable {
    /// That of the new notification.
    public var id: NotificationID
    public var hub: Hub.ID
    /// Whose dead letters they are.
    public var original: NotificationID
    /// Only those that ended this way; nil: all that no earlier resend has taken up.
    public var outcome: OutcomeName?
    public var acceptedAt: Timestamp
    public var expiresAt: Timestamp

    public init(
        id: NotificationID, hub: Hub.ID, original: NotificationID, outcome: OutcomeName?, acceptedAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.id = id
        self.hub = hub
        self.original = original
        self.outcome = outcome
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
    }
}

/// What has become of a wish to send dead letters again.
public enum ResendAcceptance: Sendable {
    /// The new notification is stored, and begins at once.
    case accepted(Notification, [Delivery])
    /// The hub has no notification of this id.
    case notFound
    /// The original has not come to its end: what of it is dead is not decided yet.
    case underWay
    /// They have been sent again as this notification; what it did not reach is its own dead letters.
    case resent(NotificationID)
    /// There are no such dead letters.
    case nothing
    /// None of them is registered any more.
    case gone
}

/// A notification that sends dead letters of another one again.
public struct ResendRecord: Hashable, Sendable {
    public var id: NotificationID
    /// nil: all that no earlier one had taken up.
    public var outcome: OutcomeName?

    public init(id: NotificationID, outcome: OutcomeName?) {
        self.id = id
        self.outcome = outcome
    }
}

/// Some of whom a resend is for, in the order of the original's members.
public struct ResendPage: Sendable {
    /// As they are members now; who is not registered any more is left out.
    public var members: [AudienceMember]
    /// The last member of the original that was looked at: where the next page begins.
    public var last: AudienceMember
    public var isLast: Bool

    public init(members: [AudienceMember], last: AudienceMember, isLast: Bool) {
        self.members = members
        self.last = last
        self.isLast = isLast
    }
}
