/// Keeps pushes that ended without success as long as their notification, so that they can be listed and resent.
///
/// Dead letters are the refusals of a notification: `NotificationStore.refusals` lists them.
public protocol DeadLetterStore: Sendable {
    /// Accepts a resend: a notification with the content and the target of the original, in one transaction.
    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance

    /// The resends of a notification, in the order of their acceptance.
    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord]

    /// One page of the members of a resend.
    ///
    /// A registration is identified by its id, even if its handle has changed. A registration that took over the handle
    /// of a dead letter is not a member.
    /// - Parameters:
    ///   - last: Where the previous page ended.
    ///   - limit: The most members of the original that are checked.
    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage
}
