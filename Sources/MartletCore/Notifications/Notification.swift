public import MartletModel

/// An accepted send, which the hub has promised to deliver.
public struct Notification: Sendable {
    /// What is sent: a payload for one platform, properties for templates, or a composed message.
    public enum Content: Sendable {
        /// A payload in the format of one platform, for its registrations without a template.
        case native(PlatformID, Message)
        /// The properties for the templates of registrations, on all platforms: a JSON object as it was sent.
        case template(properties: [UInt8])
        /// A message that each platform renders, for registrations without a template, on all platforms.
        case message(ComposedContent)

        /// The body as the sender sent it.
        public var body: [UInt8] {
            switch self {
            case .native(_, let message): message.body
            case .template(let properties): properties
            case .message(let content): content.body
            }
        }
    }

    /// The devices that a notification is for: an audience, or a list of handles.
    public enum Target: Sendable {
        /// The registrations that the expression matches; nil for all.
        case audience(TagExpression?)
        /// Up to `handleLimit` handles, registered or not. For native content only.
        case direct([PushHandle])

        /// The maximum number of handles in a direct send.
        public static let handleLimit = 1000
    }

    /// The sequence number, which the store assigns in the order of acceptance.
    public let sequence: Int64
    public let id: NotificationID
    public let hub: Hub.ID
    public let content: Content
    public let target: Target
    public let acceptedAt: Timestamp
    /// When sending begins; nil if it began at once.
    public let dueAt: Timestamp?
    /// When undelivered pushes are given up.
    public let expiresAt: Timestamp
    /// Whether the sender has stated the expiry. If so, push services that would keep the message longer are told the
    /// expiry.
    public let statesExpiry: Bool
    /// The collapse key, with which the notification replaces earlier ones; nil if it has none.
    public let collapse: Collapse?
    /// Whether the content is shown only on its target devices, not in traces or telemetry.
    public let isConfidential: Bool
    /// The roll-out; nil to send as fast as possible.
    public let rollout: Rollout?
    /// The notification that this one resends; nil if it is not a resend.
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

/// A notification that is not stored yet.
public struct NotificationDraft: Sendable {
    public var id: NotificationID
    public var hub: Hub.ID
    public var content: Notification.Content
    public var target: Notification.Target
    public var acceptedAt: Timestamp
    /// When sending begins; nil to begin at once.
    public var dueAt: Timestamp?
    public var expiresAt: Timestamp
    /// Whether the sender has stated the expiry.
    public var statesExpiry: Bool
    /// The collapse key, with which the notification replaces earlier ones; nil if it has none.
    public var collapse: Collapse?
    /// The identity by which a repeated request is recognized; nil if the request has none.
    public var request: RequestIdentity?
    /// Whether the content is shown only on its target devices, not in traces or telemetry.
    public var isConfidential: Bool
    /// The roll-out; nil to send as fast as possible.
    public var rollout: Rollout?
    /// The notification that this one resends; nil if it is not a resend.
    public var resend: Resend?
    /// The backlog limits that the notification must fit in; nil for none.
    public var backlogLimits: BacklogLimits?
    /// The author, who asked for the notification; nil if the author is not recorded.
    public var author: SendAuthor?
    /// The parts of the audience that do not get the notification when it begins, but later.
    public var laterParts: [WaitingPart] = []

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
