public import MartletModel

/// A refusal, in the form in which reports of a notification show it.
public struct RefusalRecord: Hashable, Sendable {
    public var platform: PlatformID
    /// The handle to which the push was sent; nil if the device was gone before the push could be sent.
    public var handle: PushHandle?
    /// The id of the registration; nil if the handle belongs to no registration. If several registrations share the
    /// handle, a native notification was for all of these registrations, and this is the id of the oldest.
    public var registration: String?
    /// The id of the installation to which the registration belongs.
    public var installation: String?
    public var outcome: OutcomeName
    /// The reason in the push service's own words, such as `BadDeviceToken`.
    public var reason: String
    public var at: Timestamp
    /// The number of attempts of the push.
    public var attempts: Int
    /// The status of the push service's last answer; nil if there was no answer, or if nothing was sent.
    public var status: Int?
    public var fate: HandleFate

    public init(
        platform: PlatformID, handle: PushHandle?, registration: String?, installation: String?, outcome: OutcomeName,
        reason: String, at: Timestamp, attempts: Int = 1, status: Int? = nil, fate: HandleFate = .kept
    ) {
        self.attempts = attempts
        self.status = status
        self.fate = fate
        self.platform = platform
        self.handle = handle
        self.registration = registration
        self.installation = installation
        self.outcome = outcome
        self.reason = reason
        self.at = at
    }
}

/// The position at which a page of refusals ended.
public struct RefusalPosition: Hashable, Comparable, Sendable {
    public var delivery: Delivery.ID
    public var member: AudienceMember

    public init(delivery: Delivery.ID, member: AudienceMember) {
        self.delivery = delivery
        self.member = member
    }

    /// The position before every refusal.
    public static let start = RefusalPosition(delivery: .none, member: .none)

    public static func < (left: RefusalPosition, right: RefusalPosition) -> Bool {
        (left.delivery, left.member) < (right.delivery, right.member)
    }
}

public struct RefusalPage: Sendable {
    public var records: [RefusalRecord]
    /// The position after which the next page begins; nil if this is the last page.
    public var next: RefusalPosition?

    public init(records: [RefusalRecord], next: RefusalPosition?) {
        self.records = records
        self.next = next
    }
}

extension RefusalRecord {
    public init(_ recorded: RecordedRefusal, on platform: PlatformID) {
        let refusal = recorded.refusal
        self.init(
            platform: platform, handle: refusal.handle, registration: recorded.registration,
            installation: recorded.installation, outcome: refusal.outcome, reason: refusal.reason, at: refusal.at,
            attempts: refusal.attempts, status: refusal.answer?.status, fate: refusal.fate)
    }
}
