/// Keeps what ended without success, as long as its notification, so that it can be looked at and sent again.
///
/// Dead letters are the refusals of a notification: `NotificationStore.refusals` lists them.
public protocol DeadLetterStore: Sendable {
    /// Takes a resend: a notification with the content and the target of the original, in one transaction.
    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance

    /// The notifications that send dead letters of one again, in the order of their acceptance.
    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord]

    /// Whom a delivery of a resend is for.
    ///
    /// A registration is known by its id, whatever handle it has by now: one that took over the handle of a dead letter
    /// is none of them.
    /// - Parameters:
    ///   - last: Where the page before ended.
    ///   - limit: The most members of the original that are looked at.
    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage
}
