public import MartletModel

/// A send that was accepted: the promise that the hub has given.
public struct Notification: Sendable {
    /// What is to be shown.
    public enum Content: Sendable {
        /// A payload in the form of one platform, for its registrations without a template.
        case native(PlatformID, Message)
        /// Properties that the templates of registrations are filled in with, on every platform: a JSON object as it was
        /// sent.
        case template(properties: [UInt8])

        /// The body as it was sent.
        public var body: [UInt8] {
            switch self {
            case .native(_, let message): message.body
            case .template(let properties): properties
            }
        }
    }

    /// Whom it is for.
    public enum Target: Sendable {
        /// The registrations that the expression matches; nil matches all.
        case audience(TagExpression?)
        /// Up to `handleLimit` handles, registered or not. Of native content only.
        case direct([PushHandle])

        /// The most handles of a direct send.
        public static let handleLimit = 1000
    }

    /// Given by the store, in the order of acceptance.
    public let sequence: Int64
    public let id: NotificationID
    public let hub: Hub.ID
    public let content: Content
    public let target: Target
    public let acceptedAt: Timestamp
    /// When it is to go out; nil where that was at once.
    public let dueAt: Timestamp?
    /// When undelivered pushes are given up.
    public let expiresAt: Timestamp
    /// Whether the sender has said when, so that push services are told as well which would keep it longer.
    public let statesExpiry: Bool
    /// Whose place it takes; nil where its message has no collapse key.
    public let collapse: Collapse?
    /// Whether nobody is to be shown its content but the devices that it is for.
    public let isConfidential: Bool
    /// nil: as fast as it can.
    public let rollout: Rollout?
    /// What it is a resend of; nil where it is none.
    public let resend: Resend?

    public init(sequence: Int64, _ draft: NotificationDraft) {
        self.sequence = sequence
        id = draft.id
        hub = draft.hub
        content = draft.content
        target = draft.target
        acceptedAt = draft.acceptedAt
        dueAt = draft.dueAt
        expiresAt = draft.expiresAt
        statesExpiry = draft.statesExpiry
        collapse = draft.collapse
        isConfidential = draft.isConfidential
        rollout = draft.rollout
        resend = draft.resend
    }
}

/// A notification before the store has it.
public struct NotificationDraft: Sendable {
    public var id: NotificationID
    public var hub: Hub.ID
    public var content: Notification.Content
    public var target: Notification.Target
    public var acceptedAt: Timestamp
    /// When it is to go out; nil: at once.
    public var dueAt: Timestamp?
    public var expiresAt: Timestamp
    /// Whether the sender has said when it expires.
    public var statesExpiry: Bool
    /// Whose place it takes; nil where its message has no collapse key.
    public var collapse: Collapse?
    /// How the request is known again when it is repeated; nil where it cannot be.
    public var request: RequestIdentity?
    /// Whether nobody is to be shown its content but the devices that it is for.
    public var isConfidential: Bool
    /// nil: as fast as it can.
    public var rollout: Rollout?
    /// What it is a resend of; nil where it is none.
    public var resend: Resend?
    /// How much may be unfinished for this to be accepted; nil: anything.
    public var backlogLimits: BacklogLimits?

    public init(
        id: NotificationID, hub: Hub.ID, content: Notification.Content, target: Notification.Target,
        acceptedAt: Timestamp, dueAt: Timestamp? = nil, expiresAt: Timestamp, statesExpiry: Bool = false,
        collapse: Collapse? = nil, request: RequestIdentity? = nil, isConfidential: Bool = false,
        rollout: Rollout? = nil, resend: Resend? = nil
    ) {
        self.resend = resend
        self.id = id
        self.hub = hub
        self.content = content
        self.target = target
        self.acceptedAt = acceptedAt
        self.dueAt = dueAt
        self.expiresAt = expiresAt
        self.statesExpiry = statesExpiry
        self.collapse = collapse
        self.request = request
        self.isConfidential = isConfidential
        self.rollout = rollout
    }
}
