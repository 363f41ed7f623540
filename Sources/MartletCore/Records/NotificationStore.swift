public import MartletModel

/// Keeps notifications with their progress and their results. Every change is durable when it returns.
public protocol NotificationStore: CollapseStore {
    /// Accepts a notification; it will be delivered once this returns. A scheduled notification waits for `release`;
    /// any other begins at once, with a delivery on each platform. A repeated request is recognized in the same
    /// transaction. One with a collapse key begins after the scheduled notifications of its hub that have a collapse
    /// key, are due and have not begun: they are older, so they begin in the same transaction.
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance

    /// The platforms that have registrations without a template in a hub, in the order of their names.
    func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID]

    /// Begins notifications and parts of notifications that are due, the earliest first. Their audience is the one at
    /// this time; that of a canary's rest is the one that the sample was drawn from. A notification that is paused begins
    /// when it is resumed, or when it expires, so that it ends. A gate begins when it is opened, or likewise.
    func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications

    /// When the next notification or part can begin, or the next canary has waited long enough; nil if nothing waits.
    func nextDue() async throws(StorageError) -> Timestamp?

    /// The notifications of a hub that are scheduled, in the order of their due times and of their acceptance.
    func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification]

    /// Cancels a scheduled notification.
    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation

    /// Replaces the scheduled notification with the id of the draft; its new due time is that of the draft. This and
    /// `release` exclude each other.
    /// - Parameter draft: With `dueAt`; its `request` is ignored.
    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement

    /// The deliveries of a notification with their progress, in the order of their ids.
    /// - Parameter platform: Only those on this platform; nil for all.
    func deliveries(of notification: Int64, on platform: PlatformID?) async throws(StorageError) -> [DeliveryProgress]

    /// Of some members of a part, those that another part of the notification on the same platform has sent to, has given
    /// up or will try again, or that it has followed a registration to. What unfinished deliveries have only in their
    /// progress maps is not included.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember>

    /// Unfinished deliveries with their progress, oldest first.
    /// - Parameter id: Only deliveries after this one.
    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress]

    /// Stores one step of a delivery: cursor, counts, refusals and retries in one transaction.
    /// - Returns: Whether the delivery exists; if it was deleted with its hub, nothing was written.
    @discardableResult
    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool

    /// The due retries of a delivery, earliest first.
    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry]

    /// The current channels of registrations whose handles have changed since their page was read, in the order of the
    /// members. Whether they are still in the audience is not checked; they were then.
    /// - Parameters:
    ///   - absent: Members whose channel is not in the audience any more.
    ///   - present: Members whose channel still is. They have successors if that is because of other registrations
    ///     alone, and all that were in the audience then have moved.
    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors

    /// When the earliest retry of a delivery is due; nil if it has none.
    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp?

    /// Makes retries that are due after a timestamp due earlier by an amount.
    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError)

    /// The report of a notification, for telemetry; nil if the hub has none with this id.
    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport?

    /// One page of the refusals of a notification, in the order of deliveries and members.
    /// - Parameter position: Where the previous page ended.
    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage

    /// Notifications with refusals, in the order of their ids, which is that of time.
    /// - Parameter id: Only notifications after this one.
    func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID]
}

/// The notifications that `NotificationStore.release` has begun.
public struct ReleasedNotifications: Sendable {
    /// The number of notifications and parts. If it is the requested limit, more may be due.
    public var count: Int
    public var deliveries: [Delivery]

    public init(count: Int, deliveries: [Delivery]) {
        self.count = count
        self.deliveries = deliveries
    }
}

/// The result of replacing a notification.
public enum Replacement: Hashable, Sendable {
    /// The control of the notification, such as a pause, still applies.
    case replaced(NotificationControl)
    /// The hub has no notification with this id.
    case notFound
    /// The notification has begun already.
    case begun
    /// The notification was canceled.
    case canceled
}

/// The result of canceling a notification.
public enum Cancellation: Hashable, Sendable {
    /// The notification will not be sent; also if it was canceled before.
    case canceled
    /// The hub has no notification with this id.
    case notFound
    /// The notification has begun already.
    case begun
}
