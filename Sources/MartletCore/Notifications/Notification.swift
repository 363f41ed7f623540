public import MartletModel

/// A send that was accepted: the promise that the hub has given.
public struct Notification: Sendable {
    /// Whom it is for.
    public enum Target: Sendable {
        /// The channels of the platform with a registration that the expression matches; nil matches all.
        case audience(TagExpression?)
        /// One handle, registered or not.
        case direct(PushHandle)
    }

    /// Given by the store, in the order of acceptance.
    public let sequence: Int64
    public let id: NotificationID
    public let hub: Hub.ID
    public let platform: PlatformID
    public let target: Target
    public let message: Message
    public let acceptedAt: Timestamp
    /// When undelivered pushes are given up.
    public let expiresAt: Timestamp
    /// The last channel that there was when it was accepted.
    public let lastChannel: ChannelID

    public init(sequence: Int64, _ draft: NotificationDraft, lastChannel: ChannelID) {
        self.sequence = sequence
        id = draft.id
        hub = draft.hub
        platform = draft.platform
        target = draft.target
        message = draft.message
        acceptedAt = draft.acceptedAt
        expiresAt = draft.expiresAt
        self.lastChannel = lastChannel
    }
}

/// A notification before the store has it.
public struct NotificationDraft: Sendable {
    public var id: NotificationID
    public var hub: Hub.ID
    public var platform: PlatformID
    public var target: Notification.Target
    public var message: Message
    public var acceptedAt: Timestamp
    public var expiresAt: Timestamp

    public init(
        id: NotificationID, hub: Hub.ID, platform: PlatformID, target: Notification.Target, message: Message,
        acceptedAt: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.hub = hub
        self.platform = platform
        self.target = target
        self.message = message
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
    }
}
