public import MartletModel

/// What became of a notification for one registration of a device.
public struct PushTrace: Sendable {
    public var verdict: TraceVerdict
    /// The registration at that time, or its last version if that is not known.
    public var registration: RegistrationVersion
    /// Whether it was in the audience, and why; nil if that was never checked.
    public var decision: ExpressionDecision?
    /// The page that it was in, or would have been in.
    public var range: RangeRecord?
    /// All attempts, including the last. A success at the first attempt is not listed; it was within the time of
    /// `range`.
    public var attempts: [Attempt] = []
    /// When it will be tried again; nil also while the notification is paused or halted.
    public var retryAt: Timestamp?
    /// When it was given up, because the notification would expire before another attempt.
    public var givenUpAt: Timestamp?
    /// nil if it was not a member.
    public var messageID: MessageID?
    /// The message that is or was sent; nil if it was not a member, or no message could be made.
    public var payload: Message?
    /// What the device shows of the message; nil if that cannot be told.
    public var appearance: Appearance?
    /// What this send has shown about the handle.
    public var fate: HandleFate = .kept
    /// How this version of the registration ended since then.
    public var since: RegistrationVersion.End?
    /// The side of a canary's sample that it is on; nil if the notification is no canary, or the sample is not known yet.
    public var side: SampleSide?
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

/// What became of a notification for a device.
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
