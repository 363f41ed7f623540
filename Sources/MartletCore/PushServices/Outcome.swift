public import MartletModel

/// The outcome of one push, with the names of the hub's protocol (NotificationHubs.md, section 8.3).
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
    /// No service sends to the platform. Not a name of Azure Notification Hubs.
    public static let noPushService = OutcomeName(rawValue: "NoPushService")
    public static let channelDisconnected = OutcomeName(rawValue: "ChannelDisconnected")
    public static let channelThrottled = OutcomeName(rawValue: "ChannelThrottled")
    public static let throttled = OutcomeName(rawValue: "Throttled")
    /// Accepted by the push service and then discarded.
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
    /// Not sent, because the notification was canceled. Neither this name nor the next is one of Azure Notification
    /// Hubs.
    public static let canceled = OutcomeName(rawValue: "Canceled")
    /// Held back before it was sent. Never counted: it is the reason of a waiting retry.
    public static let held = OutcomeName(rawValue: "Held")
    /// Not sent, because a newer notification supersedes it. Not a name of Azure Notification Hubs.
    public static let superseded = OutcomeName(rawValue: "Superseded")
    public static let skipped = OutcomeName(rawValue: "Skipped")
    public static let unknownError = OutcomeName(rawValue: "UnknownError")

    /// Whether a push with this outcome has failed: it was not accepted, and not suppressed on purpose.
    public var isFailure: Bool { ![.success, .skipped, .canceled, .superseded, .held].contains(self) }
}

/// The meaning of a push service's answer, and the reaction to it.
public struct Outcome: Sendable, Equatable {
    /// The name under which the push is counted if this outcome is final.
    public var name: OutcomeName
    /// The push service's own word for the outcome. Empty for a success, except in test sends.
    public var reason: String
    public var reaction: Reaction

    public init(_ name: OutcomeName, reason: String = "", _ reaction: Reaction) {
        self.name = name
        self.reason = reason
        self.reaction = reaction
    }

    public static let accepted = Outcome(.success, .accepted)
    /// The notification was canceled, so nothing more of it is sent.
    static let canceled = Outcome(.canceled, reason: "The notification was canceled.", .refuse)
    /// The request timed out before any connection had room for it, because other requests came first.
    static let noTurn = Outcome(
        .pnsUnreachable, reason: "noTurnInTime", .retry(after: .seconds(1), scope: .device))
    /// Earlier pushes to the device have waited longer for an answer than pushes to other devices.
    static let noAnswerYet = Outcome(
        .pnsUnreachable, reason: "noAnswerYet", .retry(after: .seconds(1), scope: .device))
    static let expired = Outcome(.abandoned, reason: "The notification expired before its turn.", .refuse)

    /// Whether the device was reached.
    var isSuccess: Bool {
        switch reaction {
        case .accepted, .update: true
        default: false
        }
    }
}

/// The reaction to an answer: the reaction codes of PushServices.md, section 0.2.
public enum Reaction: Sendable, Equatable {
    /// The scope of a retry or a stop.
    public enum Scope: Sendable, Equatable {
        case device
        /// All devices at the same origin, where handles are addresses. Says nothing about the push service as a whole.
        case origin
        /// All devices of the hub and platform.
        case platform
    }

    case accepted
    /// The handle is dead. With a timestamp, this holds only if the handle was not registered again after it. If
    /// guarded, it is believed only while the platform as a whole works, because a wrong configuration looks the same.
    case drop(asOf: Timestamp?, guarded: Bool)
    /// The current handle of the device; replaces the old handle if it is different.
    case update(PushHandle)
    /// Try again, not before `after`, which doubles with each attempt. The wait applies to the whole scope.
    case retry(after: Duration, scope: Scope)
    /// The request was not processed: try again at once on another connection.
    case retryElsewhere
    /// Try again once with a new token on a new connection; after that, this is a stop.
    case reauthorize
    /// This message can never reach this device.
    case refuse
    /// This message can never reach any device of the platform.
    case refuseAll
    /// The credential is not valid: stop sending for this hub and platform, keep the handles, and keep the messages
    /// until they expire.
    case stop
}
