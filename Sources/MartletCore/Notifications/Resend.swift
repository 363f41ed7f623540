public import MartletModel

/// Makes a notification a resend of dead letters: its audience is the members that another notification did not reach,
/// if they are still registered and still in the audience of that notification.
public struct Resend: Hashable, Sendable {
    /// The sequence number of the notification whose dead letters are sent.
    public var original: Int64
    /// Only dead letters with this outcome; nil for all that no earlier resend has taken up.
    public var outcome: OutcomeName?
    /// With a collapse key, the delivery that determines the order of this one: a resend is as old as its original. For
    /// a resend of a resend, this is the first original.
    public var rank: Delivery.ID?

    public init(original: Int64, outcome: OutcomeName?, rank: Delivery.ID? = nil) {
        self.original = original
        self.outcome = outcome
        self.rank = rank
    }
}

/// A request to resend dead letters.
public struct ResendDraft: Sendable {
    /// The id of the new notification.
    public var id: NotificationID
    public var hub: Hub.ID
    /// The notification whose dead letters are sent.
    public var original: NotificationID
    /// Only dead letters with this outcome; nil for all that no earlier resend has taken up.
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

/// The result of a request to resend dead letters.
public enum ResendAcceptance: Sendable {
    /// The new notification is stored and begins at once.
    case accepted(Notification, [Delivery])
    /// The hub has no notification with this id.
    case notFound
    /// The original has not ended, so its dead letters are not final.
    case underWay
    /// They were resent already, as this notification; members that it did not reach are its own dead letters.
    case resent(NotificationID)
    /// There are no such dead letters.
    case nothing
    /// None of their devices is registered any more.
    case gone
}

/// A notification that resends dead letters of another one.
public struct ResendRecord: Hashable, Sendable {
    public var id: NotificationID
    /// nil for all that no earlier resend had taken up.
    public var outcome: OutcomeName?

    public init(id: NotificationID, outcome: OutcomeName?) {
        self.id = id
        self.outcome = outcome
    }
}

/// A page of the audience of a resend, in the order of the original's members.
public struct ResendPage: Sendable {
    /// The current members; without devices that are not registered any more.
    public var members: [AudienceMember]
    /// The last member of the original that was checked; the next page begins after it.
    public var last: AudienceMember
    public var isLast: Bool

    public init(members: [AudienceMember], last: AudienceMember, isLast: Bool) {
        self.members = members
        self.last = last
        self.isLast = isLast
    }
}
