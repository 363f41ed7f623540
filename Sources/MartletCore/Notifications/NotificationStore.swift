public import MartletModel

/// Keeps notifications, how far they have come and what became of them. Every verb is durable when it returns.
public protocol NotificationStore: Sendable {
    /// Takes a notification; when it returns, the promise stands.
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Notification

    /// Notifications that are not final, oldest first, with where their delivery is to go on.
    /// - Parameter sequence: Only those behind it.
    func unfinished(after sequence: Int64, limit: Int) async throws(StorageError) -> [DeliveryProgress]

    /// Writes one step of a delivery: cursor, counts, refusals and retries in one transaction.
    func record(_ step: DeliveryStep) async throws(StorageError)

    /// Retries of a notification that are due, soonest first.
    func retries(of notification: Int64, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry]

    /// When the soonest retry of a notification is due; nil where it has none.
    func nextRetry(of notification: Int64) async throws(StorageError) -> Timestamp?

    /// What is known of a notification, for telemetry.
    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport?
}

/// An unfinished notification and where its fan-out stands.
public struct DeliveryProgress: Sendable {
    public var notification: Notification
    public var state: NotificationState
    /// The last channel of the last page that is done with.
    public var cursor: ChannelID
    /// Whether every page is done with and only retries are left.
    public var isFannedOut: Bool

    public init(notification: Notification, state: NotificationState, cursor: ChannelID, isFannedOut: Bool) {
        self.notification = notification
        self.state = state
        self.cursor = cursor
        self.isFannedOut = isFannedOut
    }
}

/// What one page, or one round of retries, has come to.
public struct DeliveryStep: Sendable {
    /// The sequence number of the notification.
    public var notification: Int64
    /// nil leaves the cursor: a round of retries.
    public var cursor: ChannelID?
    public var isFannedOut: Bool
    public var state: NotificationState
    /// Set with the first step, and with a final state.
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// Added to what is there.
    public var counts: [OutcomeName: Int]
    public var refusals: [Refusal]
    /// Put in, or replaced where the channel has one.
    public var retries: [Retry]
    /// Channels whose retry is over.
    public var settled: [ChannelID]

    public init(
        notification: Int64, cursor: ChannelID? = nil, isFannedOut: Bool, state: NotificationState,
        startedAt: Timestamp? = nil, endedAt: Timestamp? = nil, counts: [OutcomeName: Int] = [:],
        refusals: [Refusal] = [], retries: [Retry] = [], settled: [ChannelID] = []
    ) {
        self.notification = notification
        self.cursor = cursor
        self.isFannedOut = isFannedOut
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
        self.refusals = refusals
        self.retries = retries
        self.settled = settled
    }
}

/// A push that the service did not take for good.
public struct Refusal: Sendable {
    public var channel: ChannelID
    public var outcome: OutcomeName
    /// The service's own word, such as `BadDeviceToken`.
    public var reason: String
    public var at: Timestamp

    public init(channel: ChannelID, outcome: OutcomeName, reason: String, at: Timestamp) {
        self.channel = channel
        self.outcome = outcome
        self.reason = reason
        self.at = at
    }
}

/// A push that is to be tried again. Where it goes to is asked when its time has come: the device may have another user,
/// another handle or none by then.
public struct Retry: Sendable {
    public var channel: ChannelID
    /// Attempts made so far that count: those that failed for their own sake.
    public var attempts: Int
    public var dueAt: Timestamp
    /// What the last attempt came to, counted if no further one is made.
    public var outcome: OutcomeName
    public var reason: String

    public init(
        channel: ChannelID, attempts: Int, dueAt: Timestamp, outcome: OutcomeName, reason: String
    ) {
        self.channel = channel
        self.attempts = attempts
        self.dueAt = dueAt
        self.outcome = outcome
        self.reason = reason
    }
}

/// Telemetry of one notification.
public struct NotificationReport: Sendable {
    public var notification: Notification
    public var state: NotificationState
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    public var counts: [OutcomeName: Int]

    public init(
        notification: Notification, state: NotificationState, startedAt: Timestamp?, endedAt: Timestamp?,
        counts: [OutcomeName: Int]
    ) {
        self.notification = notification
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
    }
}
