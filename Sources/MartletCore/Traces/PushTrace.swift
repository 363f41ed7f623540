public import MartletModel

/// The trace of a notification for one registration of a device.
public struct PushTrace: Sendable {
    public var verdict: TraceVerdict
    /// The registration at that time, or its last version if that is not known.
    public var registration: RegistrationVersion
    /// Whether it was in the audience, and why; nil if that was never checked.
    public var decision: ExpressionDecision?
    /// The page that had the registration, or would have had it.
    public var range: RangeRecord?
    /// All attempts, including the last. A success at the first attempt is not listed; it was within the time of
    /// `range`.
    public var attempts: [Attempt] = []
    /// When the next attempt is due; nil also while the notification is paused or halted.
    public var retryAt: Timestamp?
    /// When the push was abandoned, because the notification would expire before another attempt.
    public var givenUpAt: Timestamp?
    /// The message id; nil if the registration was not a member.
    public var messageID: MessageID?
    /// The message; nil if the registration was not a member, or no message could be made.
    public var payload: Message?
    /// What the device shows for the message; nil if the payload does not determine it.
    public var appearance: Appearance?
    /// What happened to the handle because of this send.
    public var fate: HandleFate = .kept
    /// How this version of the registration has ended since.
    public var since: RegistrationVersion.End?
    /// Whether the registration is in the sample or the rest of a canary; nil if the notification is no canary, or the
    /// sample is not known yet.
    public var side: SampleSide?
    /// Whether the delivery that it is in has begun; the rest of a canary begins when the canary goes on.
    public var hasBegun = false
    /// Whether the device was reached through another registration of the same handle.
    public var isReachedByAnother = false

    init(_ verdict: TraceVerdict, _ registration: RegistrationVersion) {
        self.verdict = verdict
        self.registration = registration
        since = registration.end
    }

    /// Whether the registration was in the audience.
    public var isMember: Bool { messageID != nil }
}

/// The trace of a notification for a device.
public struct DeviceTrace: Sendable {
    public var notification: Notification
    /// The requested id, of a registration or of an installation.
    public var device: String
    /// For each registration and platform, the most informative first; empty for an unknown device.
    public var pushes: [PushTrace]
    public var receipts: [DeviceReceipt]
    /// The control of the notification.
    public var control = NotificationControl.running
    public var controlledAt: Timestamp?
    public var origin = SendOrigin()

    public init(
        notification: Notification, device: String, pushes: [PushTrace], receipts: [DeviceReceipt] = []
    ) {
        self.notification = notification
        self.device = device
        self.pushes = pushes.enumerated().sorted {
            ($0.element.verdict.rank, $0.offset) < ($1.element.verdict.rank, $1.offset)
        }.map(\.element)
        self.receipts = receipts
    }

    public var verdict: TraceVerdict { pushes.first?.verdict ?? .unknownDevice }
}
