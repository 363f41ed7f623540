public import MartletModel

/// A draft with a name, and the notification that was sent from it.
public struct Campaign: Sendable {
    public struct ID: Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }
    }

    public let id: ID
    public let hub: Hub.ID
    public var name: String
    /// A JSON object, which the server does not interpret.
    public var draft: String
    /// The number of the current version. A writer states the version that it has read. Thus it cannot overwrite a
    /// later change by mistake.
    public var version: Int64
    /// The notification that was sent from the campaign; nil while the campaign is a draft.
    public var send: NotificationID?
    public var createdAt: Timestamp
    public var changedAt: Timestamp
    /// The author of the last change.
    public var changedBy: SendAuthor

    public init(
        id: ID, hub: Hub.ID, name: String, draft: String, version: Int64 = 1, send: NotificationID? = nil,
        createdAt: Timestamp, changedAt: Timestamp, changedBy: SendAuthor
    ) {
        self.id = id
        self.hub = hub
        self.name = name
        self.draft = draft
        self.version = version
        self.send = send
        self.createdAt = createdAt
        self.changedAt = changedAt
        self.changedBy = changedBy
    }

    /// The maximum number of campaigns of a hub.
    public static let countLimit = 1000
    /// The maximum length of a name, in characters.
    public static let nameLimit = 100
    /// The maximum size of a draft, in bytes. A draft has a composed message, its audience and its time.
    public static let draftLimit = 98_304
}

/// The name and the draft of a campaign. A writer replaces both together.
public struct CampaignText: Hashable, Sendable {
    public var name: String
    public var draft: String
    public var author: SendAuthor
    public var at: Timestamp

    public init(name: String, draft: String, author: SendAuthor, at: Timestamp) {
        self.name = name
        self.draft = draft
        self.author = author
        self.at = at
    }
}

/// The result of changing a campaign, or of recording the send of a campaign.
public enum CampaignChange: Sendable {
    case changed(Campaign)
    case notFound
    /// The version of the campaign is not the version that the writer has read. The value is the stored campaign.
    case conflicting(Campaign)
    /// The campaign was sent already and cannot be changed.
    case sent(Campaign)
    /// The hub has no notification with the id of the send.
    case unknownSend
}
