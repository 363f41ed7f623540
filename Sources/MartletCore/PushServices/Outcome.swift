public import MartletModel

/// The name of the outcome of one push, as in the hub's protocol (NotificationHubs.md, section 8.3).
public struct OutcomeName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let success = OutcomeName(rawValue: "Success")
    public static let abandoned = OutcomeName(rawValue: "AbandonedNotificationMessages")
    public static let badChannel = OutcomeName(rawValue: "BadChannel")
    public static let expiredChannel = OutcomeName(rawValue: "ExpiredChannel")
    public static let wrongToken = OutcomeName(rawValue: "WrongToken")
    /// No push service is available for the platform. Azure Notification Hubs does not have this name.
    public static let noPushService = OutcomeName(rawValue: "NoPushService")
    public static let channelDisconnected = OutcomeName(rawValue: "ChannelDisconnected")
    public static let channelThrottled = OutcomeName(rawValue: "ChannelThrottled")
    public static let throttled = OutcomeName(rawValue: "Throttled")
    /// The push service accepted the push and then discarded it.
    public static let dropped = OutcomeName(rawValue: "Dropped")
    public static let invalidCredentials = OutcomeName(rawValue: "InvalidCredentials")
    public static let invalidNotificationFormat = OutcomeName(rawValue: "InvalidNotificationFormat")
    public static let invalidNotificationSize = OutcomeName(rawValue: "InvalidNotificationSize")
    public static let pnsInterfaceError = OutcomeName(rawValue: "PnsInterfaceError")
    public static let pnsServerError = OutcomeName(rawValue: "PnsServerError")
    public static let pnsUnavailable = OutcomeName(rawValue: "PnsUnavailable")
    public static let pnsUnreachable = OutcomeName(rawValue: "PnsUnreachable")
    public static let tokenProviderInterfaceError = OutcomeName(rawValue: "TokenProviderInterfaceError")
    public static let tokenProviderUnreachable = OutcomeName(rawValue: "TokenProviderUnreachable")
    /// The push was not sent, because the notification was canceled. Azure Notification Hubs does not have this name.
    public static let canceled = OutcomeName(rawValue: "Canceled")
    /// The push was held back before it was sent. This outcome is never counted; it is the reason of a waiting retry.
    /// Azure Notification Hubs does not have this name.
    public static let held = OutcomeName(rawValue: "Held")
    /// The push was not sent, because a newer notification supersedes it. Azure Notification Hubs does not have this
    /// name.
    public static let superseded = OutcomeName(rawValue: "Superseded")
    public static let skipped = OutcomeName(rawValue: "Skipped")
    public static let unknownError = OutcomeName(rawValue: "UnknownError")

    /// True if a push with this outcome has failed: it was neither accepted nor suppressed on purpose.
    public var isFailure: Bool { ![.success, .skipped, .canceled, .superseded, .held].contains(self) }
}

/// The meaning of a push service's answer, and the reaction to it.
public struct Outcome: Sendable, Equatable {
    /// The name under which the push is counted if this outcome is final.
    public var name: OutcomeName
    /// The word that the push service uses for the outcome. If no service answered, a word or a sentence of Martlet.
    /// Empty for a success, except in test sends.
    public var reason: String
    public var reaction: Reaction

    public init(_ name: OutcomeName, reason: String = "", _ reaction: Reaction) {
        self.name = name
        self.reason = reason
        self.reaction = reaction
    }

    public static let accepted = Outcome(.success, .accepted)
    /// The outcome of a push that is not sent, because the notification was canceled.
    static let canceled = Outcome(.canceled, reason: "The notification was canceled.", .refuse)
    /// The outcome of a push whose request timed out before a connection could accept it, because other requests came
    /// first.
    static let noTurn = Outcome(
        .pnsUnreachable, reason: "noTurnInTime", .retry(after: .seconds(1), scope: .device))
    /// The outcome of a push that has to wait, because earlier pushes to its device have no answer yet, although pushes
    /// to other devices get answers.
    static let noAnswerYet = Outcome(
        .pnsUnreachable, reason: "noAnswerYet", .retry(after: .seconds(1), scope: .device))
    static let expired = Outcome(.abandoned, reason: "The notification expired before its turn.", .refuse)

    /// True if the push service accepted the push.
    var isSuccess: Bool {
        switch reaction {
        case .accepted, .update: true
        default: false
        }
    }
}

/// The reaction to a push service's answer. The cases are the reaction codes of PushServices.md, section 0.2.
public enum Reaction: Sendable, Equatable {
    /// The devices to which the wait before a retry applies.
    public enum Scope: Sendable, Equatable {
        case device
        /// All devices at the same origin, on platforms whose handles are addresses. The answer says nothing about the
        /// push service as a whole.
        case origin
        /// All devices of the hub on the platform.
        case platform
    }

    case accepted
    /// The handle is no longer valid, and its registrations are removed.
    ///
    /// If there is a timestamp, the handle is removed only if it was not registered again after that time. If
    /// `guarded`, the answer is believed only while other pushes of the same application
    /// (`PushService.application(of:)`) succeed, because a wrong configuration causes the same answer (see
    /// `DeletionGuard`).
    case drop(asOf: Timestamp?, guarded: Bool)
    /// The push was accepted, and the push service has reported the device's current handle. If the current handle
    /// differs from the old one, it replaces the old one.
    case update(PushHandle)
    /// Retry after a wait that applies to the whole scope. The wait is at least `after`, and doubles with each attempt.
    case retry(after: Duration, scope: Scope)
    /// The request was not processed: retry at once on another connection.
    case retryElsewhere
    /// Retry once with a new token on a new connection. If that fails in the same way, treat the answer as `stop`.
    case reauthorize
    /// The message can never reach the device of the push.
    case refuse
    /// The message can never reach any device of the platform.
    case refuseAll
    /// The credential is not valid: stop sending for this hub and platform, but keep the handles, and keep the messages
    /// until they expire.
    case stop
}
