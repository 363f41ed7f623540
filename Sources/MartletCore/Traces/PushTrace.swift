public import MartletModel

/// What became of a notification on one registration of a device.
public struct PushTrace: Sendable {
    public var verdict: TraceVerdict
    /// The registration as it was then; where that cannot be told, as it was last.
    public var registration: RegistrationVersion
    /// Whether it was in the audience and what decided; nil where it never came to that.
    public var decision: ExpressionDecision?
    /// The page that it was in, or would have been in.
    public var range: RangeRecord?
    /// Every attempt, the last one included. Of a success at the first attempt it is known that it was in the time of
    /// the range.
    public var attempts: [Attempt] = []
    /// When it is to be tried again; nil also while nothing of the notification is sent.
    public var retryAt: Timestamp?
    /// When it was given up, because there was no time left for another attempt.
    public var givenUpAt: Timestamp?
    /// nil where it was no member.
    public var messageID: MessageID?
    /// What it is, or was, sent; nil where it was no member or nothing could be made.
    public var payload: Message?
    /// What came of the handle: of an answer of the service in this send.
    public var fate: HandleFate = .kept
    /// How the registration ended, or was changed, since then.
    public var since: RegistrationVersion.End?
    /// Whether another registration of the same handle brought it to the device.
    public var isReachedByAnother = false

    init(_ verdict: TraceVerdict, _ registration: RegistrationVersion) {
        self.verdict = verdict
        self.registration = registration
        since = registration.end
    }

    /// Whether the registration was in the audience.
    public var isMember: Bool { messageID != nil }
}

/// What became of a notification on a device.
public struct DeviceTrace: Sendable {
    public var notification: Notification
    /// The id that was asked for: of a registration or of an installation.
    public var device: String
    /// For each registration and platform, what tells most first; empty for a device that is not known.
    public var pushes: [PushTrace]
    public var receipts: [DeviceReceipt]
    /// What is requested of the notification, and since when.
    public var control = NotificationControl.running
    public var controlledAt: Timestamp?

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
