public import MartletModel

/// A send that is prepared over some time: a name, and a draft that is kept until it is sent.
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
    /// What whoever writes it has composed so far: a JSON object, which the server keeps as it is.
    public var draft: String
    /// Counts changes, so that nobody replaces what somebody else has written meanwhile.
    public var version: Int64
    /// The notification that was sent from it; nil while it is a draft.
    public var send: NotificationID?
    public var createdAt: Timestamp
    public var changedAt: Timestamp
    /// Who has changed it last.
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

    /// The most campaigns of a hub.
    public static let countLimit = 1000
    /// The longest name, in characters.
    public static let nameLimit = 100
    /// The largest draft, in bytes: a composed message with room for its audience and its time.
    public static let draftLimit = 98_304
}

/// What is written of a campaign.
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
    /// Somebody else has changed it meanwhile: the campaign as it is now.
    case conflicting(Campaign)
    /// It was sent, and stays as it is.
    case sent(Campaign)
    /// The hub has no such notification.
    case unknownSend
}

/// Stores campaigns in a table of their own, so that other sends cost no more for them. Every change is durable when it
/// returns.
public protocol CampaignStore: Sendable {
    /// Returns campaigns, newest first, without their drafts.
    func campaigns(in hub: Hub.ID, before id: Campaign.ID?, limit: Int) async throws(StorageError) -> [Campaign]

    /// Returns a campaign; nil if the hub has none with this id.
    func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Adds a campaign.
    /// - Returns: Nil if the hub has `Campaign.countLimit` already.
    func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Replaces the name and the draft.
    /// - Parameter version: That which the writer has seen.
    func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange

    /// Records that a notification was sent from a campaign. Once recorded, it stays.
    func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange

    /// - Returns: Whether it was there.
    func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool
}
