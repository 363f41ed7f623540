public import MartletModel

/// Marks a notification as a resend of the dead letters of another notification, its original. The audience of the
/// resend consists of the members that the original did not reach, if they are still registered and still in the
/// audience of the original.
public struct Resend: Hashable, Sendable {
    /// The sequence number of the notification whose dead letters are resent.
    public var original: Int64
    /// The outcome of the dead letters to resend; nil for all dead letters that no earlier resend has included.
    public var outcome: OutcomeName?
    /// The delivery of the original whose rank the resend takes over, because a resend is as old as its original; nil
    /// if there is no collapse key. For a resend of a resend, the delivery belongs to the first original.
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
    /// The notification whose dead letters are resent.
    public var original: NotificationID
    /// The outcome of the dead letters to resend; nil for all dead letters that no earlier resend has included.
    public var outcome: OutcomeName?
    public var acceptedAt: Timestamp
    public var expiresAt: Timestamp
    /// The author, who asked for the resend; nil if the author is not recorded.
    public var author: SendAuthor?

    public init(
        id: NotificationID, hub: Hub.ID, original: NotificationID, outcome: OutcomeName?, acceptedAt: Timestamp,
        expiresAt: Timestamp, author: SendAuthor? = nil
    ) {
        self.author = author
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
    /// The original notification has not ended, so its dead letters are not final.
    case underWay
    /// The dead letters were already resent, as the notification with this id. Members that it did not reach are now
    /// dead letters of that notification.
    case resent(NotificationID)
    /// There are no dead letters that match the request.
    case nothing
    /// None of the devices of the dead letters is registered any more.
    case gone
}

/// A notification that resends the dead letters of another notification.
public struct ResendRecord: Hashable, Sendable {
    public var id: NotificationID
    /// The outcome of the resent dead letters; nil for all dead letters that no earlier resend had included.
    public var outcome: OutcomeName?

    public init(id: NotificationID, outcome: OutcomeName?) {
        self.id = id
        self.outcome = outcome
    }
}

/// A page of the audience of a resend, in the order of the original's members.
public struct ResendPage: Sendable {
    /// The members to send to: the registrations of the dead letters, with their current channels. Devices that are no
    /// longer registered are left out.
    public var members: [AudienceMember]
    /// The last member of the original that was checked; the next page begins after this member.
    public var last: AudienceMember
    public var isLast: Bool

    public init(members: [AudienceMember], last: AudienceMember, isLast: Bool) {
        self.members = members
        self.last = last
        self.isLast = isLast
    }
}
