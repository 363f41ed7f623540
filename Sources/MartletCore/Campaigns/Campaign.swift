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
    /// Counts changes, so that nobody overwrites a change that they have not read.
    public var version: Int64
    /// The notification that was sent from it; nil while it is a draft.
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
    /// The maximum size of a draft, in bytes: a composed message, its audience and its time.
    public static let draftLimit = 98_304
}

/// The part of a campaign that a writer changes.
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

/// The result of changing a campaign.
public enum CampaignChange: Sendable {
    case changed(Campaign)
    case notFound
    /// It has another version: the campaign as it is stored.
    case conflicting(Campaign)
    /// It was sent and cannot be changed.
    case sent(Campaign)
    /// The hub has no such notification.
    case unknownSend
}

/// Stores campaigns. Every change is durable when it returns.
public protocol CampaignStore: Sendable {
    /// Returns campaigns, newest first, without their drafts.
    func campaigns(in hub: Hub.ID, before id: Campaign.ID?, limit: Int) async throws(StorageError) -> [Campaign]

    /// Returns a campaign; nil if the hub has none with this id.
    func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Adds a campaign.
    /// - Returns: Nil if the hub has `Campaign.countLimit` already.
    func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Replaces the name and the draft.
    /// - Parameter version: The version that the writer has read.
    func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange

    /// Records that a notification was sent from a campaign, which cannot be changed from then on.
    func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange

    /// Removes a campaign.
    /// - Returns: Whether it existed.
    func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool
}
