/// Stores pushes that ended without success for as long as their notification, so that they can be listed and resent.
///
/// The dead letters are the refusals of a notification; `NotificationStore.refusals` lists them.
public protocol DeadLetterStore: Sendable {
    /// Accepts a resend: stores, in one transaction, a notification with the content and the target of the original.
    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance

    /// Returns the resends of a notification, in the order in which they were accepted.
    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord]

    /// Returns one page of the members of a resend.
    ///
    /// A registration is identified by its id, even if its handle has changed. A registration that took over the handle
    /// of a dead letter is not a member.
    /// - Parameters:
    ///   - last: The last member of the previous page.
    ///   - limit: The maximum number of the original's dead letters that are checked for the page.
    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage
}
