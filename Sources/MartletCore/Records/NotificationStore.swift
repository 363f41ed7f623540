public import MartletModel

/// Stores notifications with their progress and their results. Every change is durable when it returns.
public protocol NotificationStore: CollapseStore {
    /// Stores which members running deliveries have reached; nil if no other process can go on with a delivery of this
    /// process, because then the progress map says it.
    var reachedStore: (any ReachedStore)? { get }

    /// Accepts a notification: once this method returns, the notification is durable and will be delivered. A scheduled
    /// notification waits for `release`; any other begins at once, with a delivery on each platform. A repeated request
    /// is recognized in the same transaction.
    ///
    /// If the notification has a collapse key, older notifications must begin before it. These are the scheduled
    /// notifications of the hub that have a collapse key too, and are due but have not begun. They begin in the same
    /// transaction.
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance

    /// Returns what `accept` would answer because an earlier request has the key of this one: `.repeated` or
    /// `.conflicting`; nil if there is no such request.
    func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance?

    /// Returns the platforms that have registrations without a template in a hub, in the order of their names.
    func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID]

    /// Begins the notifications and parts of notifications that are due, the earliest first. Their audience is the
    /// audience at this time. Only the rest of a canary has an earlier audience: the one from which the sample was
    /// drawn.
    ///
    /// A paused notification begins when it is resumed. It also begins when it expires, so that it can end. A part with
    /// a gate begins when the gate is opened or the notification expires.
    /// - Parameter time: The clock that decides what is due. It is read in the transaction: a time that was read before
    ///   may be ahead of a clock that was set back meanwhile, and would begin a notification that was scheduled since.
    func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications

    /// Returns the time when the next notification or part can begin, or when the next canary has waited long enough;
    /// nil if nothing waits.
    func nextDue() async throws(StorageError) -> Timestamp?

    /// Returns the scheduled notifications of a hub, in the order of their due times and, for equal times, of their
    /// acceptance.
    func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification]

    /// Cancels a scheduled notification, unless it has begun.
    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation

    /// Replaces the scheduled notification that has the id of the draft. The notification gets the due time of the
    /// draft. A notification that `release` has begun is not replaced.
    /// - Parameter draft: A draft with `dueAt`; its `request` is ignored.
    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement

    /// Returns the deliveries of a notification with their progress, in the order of their ids.
    /// - Parameter platform: The platform of the deliveries; nil for all platforms.
    func deliveries(of notification: Int64, on platform: PlatformID?) async throws(StorageError) -> [DeliveryProgress]

    /// Returns the members, among the given ones, that another part of the notification on the same platform has
    /// handled. A member is handled if a push to it was sent, was given up or will be tried again. A member is also
    /// handled if its channel was reached by the push to another member, whose registration had moved to this channel.
    ///
    /// Does not include members that are only in the progress map of an unfinished delivery, and not in the store.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember>

    /// Returns unfinished deliveries with their progress, oldest first.
    /// - Parameter id: The delivery after which the result begins.
    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress]

    /// Stores one step of a delivery: cursor, counts, refusals and retries in one transaction.
    /// - Returns: Whether the delivery exists; if it was deleted with its hub, nothing was written.
    @discardableResult
    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool

    /// Returns the due retries of a delivery, earliest first.
    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry]

    /// Returns the current channels of registrations whose handles have changed since their page was read, in the order
    /// of the members. The registrations were in the audience at that time; it is not checked whether they still are.
    /// - Parameters:
    ///   - absent: The members whose channel is not in the audience any more.
    ///   - present: The members whose channel is still in the audience. Such a member has a successor if all its
    ///     registrations of that time have moved, so that only other registrations keep its channel in the audience.
    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors

    /// Returns the time when the earliest retry of a delivery is due; nil if it has no retry.
    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp?

    /// Makes every retry that is due after `timestamp` due earlier, by `amount`. Called when the clock was set back.
    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError)

    /// Finds the retries of a hub whose last attempt had the given outcome, and makes them due now. Called when the hub
    /// has a new credential.
    /// - Parameter limit: The maximum number of retries to change.
    /// - Returns: The number of changed retries. If it is `limit`, there may be more.
    func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int

    /// Returns the report of a notification, for telemetry; nil if the hub has no notification with this id.
    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport?

    /// Returns one page of the refusals of a notification, in the order of deliveries and members.
    /// - Parameter position: The position at which the previous page ended.
    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage

    /// Returns the notifications with refusals, in the order of their ids, which is the order of time.
    /// - Parameter id: The notification after which the result begins.
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
    /// The notification will not be sent. This is also the result if it was canceled before.
    case canceled
    /// The hub has no notification with this id.
    case notFound
    /// The notification has begun already.
    case begun
}
