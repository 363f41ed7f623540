public import MartletModel

/// Stores the controls of notifications and the state of roll-outs. Every change is durable when the call returns.
public protocol ControlStore: Sendable {
    /// Changes the control of a notification according to `NotificationControl.after`. Canceling a scheduled
    /// notification ends it. After a roll-out is resumed, its failures are counted from zero again. If a canary holds,
    /// `resume` and `release` open the gate of its rest. If a canary was paused while it held, a resume makes it hold
    /// again. When a notification is canceled, its waiting parts begin, because the members of a part can be counted
    /// only after the part has begun.
    func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange

    /// Returns the notifications that have not ended and whose control is not `running`.
    func controlled() async throws(StorageError) -> [ControlledNotification]

    /// Returns whether a notification has ended, or was deleted with its hub.
    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool

    /// Stores the audience size of a roll-out, unless one is stored already.
    /// - Returns: The stored size; nil if the notification does not exist any more.
    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int?

    /// Stores the sample of a canary, unless one is stored already. If the sample is the whole audience, removes the
    /// part that sends to the rest.
    /// - Returns: The stored state; nil if the notification does not exist any more.
    func setSample(_ sample: CountedSample, ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord?

    /// Returns at most `limit` canaries that hold and whose wait is over. The canary whose wait ended first comes
    /// first. Canaries that `recordWaitingForAnswers` has recorded are left out.
    func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary]

    /// Corrects the holds of canaries after the clock was set back. A hold that began later than `now` begins at `now`
    /// instead. If `recordWaitingForAnswers` has recorded a canary whose wait is no longer over, that record is
    /// removed. A new decision about the canary is then made when its wait is over. If a canary was released or canceled
    /// later than `now`, and its rest has not begun, the rest is due at `now`.
    func correctHolds(at now: Timestamp) async throws(StorageError)

    /// Records that the wait of a canary is over, and that the canary has too few answers to continue.
    func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError)

    /// Returns the stored state of a roll-out; nil if the notification does not exist any more.
    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord?

    /// Corrects the time when the last page of a roll-out began, after the clock was set back: a time later than `now`
    /// becomes `now`.
    func correctLastSending(ofRollout sequence: Int64, at now: Timestamp) async throws(StorageError)

    /// Returns the state of a notification; nil if the hub has no notification with this id.
    func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus?
}

/// The stored state of a roll-out. It lets the roll-out continue at its rate after a restart, neither faster nor
/// slower.
public struct RolloutRecord: Hashable, Sendable {
    /// The audience size; nil if it was not counted.
    public var audience: Int?
    /// When the last page, or the last round of retries, began; nil if nothing has been sent yet.
    public var lastSentAt: Timestamp?
    /// The highest hash (`SampleHash`) that a member of a canary's sample can have; nil until it is known.
    public var threshold: UInt64?

    public init(audience: Int?, lastSentAt: Timestamp?, threshold: UInt64? = nil) {
        self.audience = audience
        self.lastSentAt = lastSentAt
        self.threshold = threshold
    }
}

/// The sample of a canary, found by counting its audience.
public struct CountedSample: Hashable, Sendable {
    /// The highest hash (`SampleHash`) that a member of the sample can have.
    public var threshold: UInt64
    /// The size of the audience.
    public var audience: Int
    /// Whether the sample is the whole audience.
    public var isWholeAudience: Bool

    public init(threshold: UInt64, audience: Int, isWholeAudience: Bool) {
        self.threshold = threshold
        self.audience = audience
        self.isWholeAudience = isWholeAudience
    }
}

/// A canary that has sent to its sample and holds.
public struct HeldCanary: Hashable, Sendable {
    /// The sequence number of the notification.
    public var notification: Int64
    public var id: NotificationID
    public var hub: Hub.ID

    public init(notification: Int64, id: NotificationID, hub: Hub.ID) {
        self.notification = notification
        self.id = id
        self.hub = hub
    }
}

/// A notification whose control is not `running`.
public struct ControlledNotification: Hashable, Sendable {
    /// The sequence number of the notification.
    public var notification: Int64
    public var hub: Hub.ID
    public var control: NotificationControl

    public init(notification: Int64, hub: Hub.ID, control: NotificationControl) {
        self.notification = notification
        self.hub = hub
        self.control = control
    }
}
