public import MartletModel

/// Keeps notifications, how far they have come and what became of them. Every verb is durable when it returns.
public protocol NotificationStore: CollapseStore {
    /// Takes a notification; when it returns, the promise holds. One that is due later waits for `release`; any other
    /// begins at once, with a delivery on each platform. A request that is known is told apart in the same transaction.
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance

    /// Begins notifications whose time has come, the earliest first. Their audience is that of this time.
    func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications

    /// When the next notification is to be released; nil where none waits.
    func nextDue() async throws(StorageError) -> Timestamp?

    /// Withdraws a notification that waits for its time.
    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation

    /// Puts a draft in the place of the notification of its id that waits for its time: it waits for that of the draft.
    /// Where the two meet, either this or `release` comes first.
    /// - Parameter draft: With `dueAt`; its `request` means nothing.
    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement

    /// Deliveries that are not final, oldest first, with where they are to go on.
    /// - Parameter id: Only those after it.
    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress]

    /// Writes one step of a delivery: cursor, counts, refusals and retries in one transaction.
    /// - Returns: Whether the delivery is there; where it is gone with its hub nothing was written.
    @discardableResult
    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool

    /// Retries of a delivery that are due, soonest first.
    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry]

    /// Where the registrations are now that some members of a delivery had when their page was read and that have another
    /// handle since, in the order of the members. Whether they are still in the audience is not asked; they were then.
    func successors(of members: [AudienceMember], in delivery: Delivery) async throws(StorageError) -> [Successor]

    /// When the soonest retry of a delivery is due; nil where it has none.
    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp?

    /// Has all retries that come after a given time come sooner by an amount, but not before that time.
    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError)

    /// What is known of a notification, for telemetry.
    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport?

    /// One page of what was refused of a notification, in the order of deliveries and members.
    /// - Parameter position: Where the page before ended.
    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage

    /// Notifications of which something was refused, in the order of their ids, which is that of time.
    /// - Parameter id: Only those after it.
    func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID]
}

/// What `NotificationStore.release` has begun.
public struct ReleasedNotifications: Sendable {
    /// How many notifications; more may be due where it is as many as were asked for.
    public var count: Int
    public var deliveries: [Delivery]

    public init(count: Int, deliveries: [Delivery]) {
        self.count = count
        self.deliveries = deliveries
    }
}

/// What has become of the wish to replace a notification.
public enum Replacement: Hashable, Sendable {
    /// What is requested of it, such as a pause, still holds.
    case replaced(NotificationControl)
    /// The hub has no notification of this id.
    case notFound
    /// It has begun.
    case begun
    /// It was withdrawn.
    case canceled
}

/// What has become of the wish to withdraw a notification.
public enum Cancellation: Hashable, Sendable {
    /// It will not go out; also where it had been withdrawn before.
    case canceled
    /// The hub has no notification of this id.
    case notFound
    /// It has begun.
    case begun
}
