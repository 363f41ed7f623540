/// Stores pushes that ended without success for as long as it stores their notification, so that they can be listed and
/// resent.
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

    /// Returns notifications with refusals, newest first.
    /// - Parameter id: Only notifications that are older than this one are returned; nil to begin with the newest.
    func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID]

    /// Counts the refusals of a notification by outcome and reason, the most frequent first.
    /// - Parameters:
    ///   - lookLimit: The maximum number of refusals that are read.
    ///   - limit: The maximum number of reasons that are returned.
    func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons
}

/// The number of refusals of a notification for each outcome and reason.
public struct RefusalReasons: Hashable, Sendable {
    public struct Count: Hashable, Sendable {
        public var outcome: OutcomeName
        public var reason: String
        public var count: Int

        public init(outcome: OutcomeName, reason: String, count: Int) {
            self.outcome = outcome
            self.reason = reason
            self.count = count
        }
    }

    public var counts: [Count]
    /// True if some refusals were not counted, or if some reasons are not in `counts`.
    public var isPartial: Bool

    public init(counts: [Count], isPartial: Bool) {
        self.counts = counts
        self.isPartial = isPartial
    }
}
