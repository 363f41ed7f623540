/// Stores campaigns. Every change is durable when the call returns.
public protocol CampaignStore: Sendable {
    /// Returns campaigns, newest first, without their drafts.
    /// - Parameter id: The campaign after which the result begins, so that only older campaigns are returned; nil to
    ///   begin with the newest.
    func campaigns(in hub: Hub.ID, before id: Campaign.ID?, limit: Int) async throws(StorageError) -> [Campaign]

    /// Returns a campaign; nil if the hub has no campaign with this id.
    func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Adds a campaign.
    /// - Returns: The campaign; nil if the hub already has `Campaign.countLimit` campaigns.
    func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign?

    /// Replaces the name and the draft of a campaign.
    /// - Parameter version: The version that the writer has read.
    func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange

    /// Records that a notification was sent from a campaign. From then on, the campaign cannot be changed.
    func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange

    /// Removes a campaign.
    /// - Returns: Whether the campaign existed.
    func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool
}
