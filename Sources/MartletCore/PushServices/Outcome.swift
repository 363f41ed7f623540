public import MartletModel

/// What became of one push, in the words of the hub's protocol (NotificationHubs.md, section 8.3).
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
    /// Nothing sends to the platform: a name of this hub's own.
    public static let noPushService = OutcomeName(rawValue: "NoPushService")
    public static let channelDisconnected = OutcomeName(rawValue: "ChannelDisconnected")
    public static let channelThrottled = OutcomeName(rawValue: "ChannelThrottled")
    public static let throttled = OutcomeName(rawValue: "Throttled")
    /// Taken by the service and thrown away.
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
    /// Spared it, because the notification was canceled: a name of this hub's own, like the next.
    public static let canceled = OutcomeName(rawValue: "Canceled")
    /// Held back before it was sent. Never counted: it is what a push waits for.
    public static let held = OutcomeName(rawValue: "Held")
    /// Spared the message, because a newer one takes its place: a name of this hub's own.
    public static let superseded = OutcomeName(rawValue: "Superseded")
    public static let skipped = OutcomeName(rawValue: "Skipped")
    public static let unknownError = OutcomeName(rawValue: "UnknownError")

    /// Whether a push that ends so has failed: it was neither taken nor meant not to be sent.
    public var isFailure: Bool { ![.success, .skipped, .canceled, .superseded, .held].contains(self) }
}

/// What an answer of a push service means, and what to do about it.
public struct Outcome: Sendable, Equatable {
    /// What it is counted as where it is final.
    public var name: OutcomeName
    /// The service's own word for it. For a success it is empty, or what test sends show.
    public var reason: String
    public var reaction: Reaction

    public init(_ name: OutcomeName, reason: String = "", _ reaction: Reaction) {
        self.name = name
        self.reason = reason
        self.reaction = reaction
    }

    public static let accepted = Outcome(.success, .accepted)
    /// Nothing more is sent of it.
    static let canceled = Outcome(.canceled, reason: "The notification was canceled.", .refuse)
    /// Its time was up before any connection had room for it: others stood before it.
    static let noTurn = Outcome(
        .pnsUnreachable, reason: "noTurnInTime", .retry(after: .seconds(1), scope: .device))
    /// Pushes that were sent to the device before wait for an answer longer than those to others.
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

/// What a sender does about an answer: the reaction codes of PushServices.md, section 0.2.
public enum Reaction: Sendable, Equatable {
    /// What a retry or a stop is about.
    public enum Scope: Sendable, Equatable {
        case device
        /// Every device at the same address, where handles are addresses. Says nothing of the service as a whole.
        case origin
        /// Everything of this hub and platform.
        case platform
    }

    case accepted
    /// The handle is dead. With a timestamp: unless it was registered again after it. Guarded: only while the platform as
    /// a whole is healthy, because a wrong configuration looks the same.
    case drop(asOf: Timestamp?, guarded: Bool)
    /// The handle is the one given here: it has been replaced where it was another.
    case update(PushHandle)
    /// Try again, not before `after`, which doubles with each attempt; the wait holds for all of the scope.
    case retry(after: Duration, scope: Scope)
    /// Not processed: try again at once on another connection.
    case retryElsewhere
    /// Try again once with a new token on a new connection; after that it is a stop.
    case reauthorize
    /// This message can never reach this device.
    case refuse
    /// This message can never reach any device of the platform.
    case refuseAll
    /// The credential is bad: stop for this hub and platform, keep the handles, and keep the messages until they expire.
    case stop
}
