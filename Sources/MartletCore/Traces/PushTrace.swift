public import MartletModel

/// The trace of a notification for one registration of a device.
public struct PushTrace: Sendable {
    public var verdict: TraceVerdict
    /// The version of the registration that was current when its page was read; the last version if it is not known
    /// which one was current.
    public var registration: RegistrationVersion
    /// The decision whether the tag expression matched the registration; nil if the expression was not evaluated.
    public var decision: ExpressionDecision?
    /// The record of the page that contained the registration, or would have contained it.
    public var range: RangeRecord?
    /// All attempts, including the last. A success at the first attempt is not listed; it happened while the page of
    /// `range` was sent.
    public var attempts: [Attempt] = []
    /// The time when the next attempt is due. Nil if there is no next attempt, and while the notification is paused or
    /// halted.
    public var retryAt: Timestamp?
    /// The time when the push was abandoned, because the notification would expire before another attempt.
    public var givenUpAt: Timestamp?
    /// The message id; nil if the registration was not a member.
    public var messageID: MessageID?
    /// The message that was or is sent; nil if the registration was not a member, or if no message can be rendered.
    public var payload: Message?
    /// The appearance of the message on the device; nil if the payload does not determine it.
    public var appearance: Appearance?
    /// The consequence of this send for the handle.
    public var fate: HandleFate = .kept
    /// The change that has since ended the version in `registration`; nil if that version is still current.
    public var since: RegistrationVersion.End?
    /// The side of a canary that the registration is on, the sample or the rest; nil if the notification is no canary,
    /// or if the sample is not known yet.
    public var side: SampleSide?
    /// True if the delivery to the registration has begun; the rest of a canary begins when the canary continues.
    public var hasBegun = false
    /// True if the device was reached through another registration of the same handle.
    public var isReachedByAnother = false
    /// True if the notification was a resend of dead letters, and the registration had none of them.
    var hadNoDeadLetter = false
    /// True if the registration was on the other side of the canary when the pages of `side` were read. This trace is
    /// ignored if there is another trace for the other side.
    var wasOnOtherSide = false

    init(_ verdict: TraceVerdict, _ registration: RegistrationVersion) {
        self.verdict = verdict
        self.registration = registration
        since = registration.end
    }

    /// True if the registration was in the audience.
    public var isMember: Bool { messageID != nil }
}

/// The trace of a notification for a device: why the device did or did not get the notification.
public struct DeviceTrace: Sendable {
    public var notification: Notification
    /// The requested id, of a registration or of an installation.
    public var device: String
    /// The trace of each registration, the most informative first; empty for an unknown device.
    public var pushes: [PushTrace]
    public var receipts: [DeviceReceipt]
    /// The control of the notification.
    public var control = NotificationControl.running
    /// True if the notification has ended.
    public var hasEnded = false
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

    /// The control to show to people (`NotificationControl.shown`): nil if the notification has ended and was not
    /// canceled.
    public var shownControl: NotificationControl? { hasEnded && control != .canceled ? nil : control }

    public var verdict: TraceVerdict { pushes.first?.verdict ?? .unknownDevice }
}
