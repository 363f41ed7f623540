/// A fault that a simulated service words in its own way (PushServices.md, section 10.8).
public struct ServiceFault: Hashable, Sendable {
    /// What goes wrong. Open, so that a service can have faults that no other has: it extends this type in its folder.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }
    }

    public var name: Name
    /// When to come again, where the service says so; nil leaves the field out.
    public var retryAfter: RetryAfterField?
    /// With a handle that is gone: for how many seconds it has been.
    public var age: Int?
    /// Whether the connection goes on failing in the same way for requests that the fault is not meant for.
    public var isSticky: Bool
    /// Whether the message is delivered all the same.
    public var isDelivered: Bool

    public init(
        _ name: Name, retryAfter: RetryAfterField? = nil, age: Int? = nil, isSticky: Bool = false,
        isDelivered: Bool = false
    ) {
        self.name = name
        self.retryAfter = retryAfter
        self.age = age
        self.isSticky = isSticky
        self.isDelivered = isDelivered
    }
}

/// What most services know. What a name does not fit, the service leaves out of its list.
extension ServiceFault.Name {
    /// Too many messages of one sender.
    public static let rateLimit: Self = "rateLimit"
    /// Too many messages to one device.
    public static let deviceRateLimit: Self = "deviceRateLimit"
    public static let internalError: Self = "internalError"
    public static let unavailable: Self = "unavailable"
    /// The app has left the device.
    public static let unregistered: Self = "unregistered"
    /// The handle is not one of the service's.
    public static let unknownHandle: Self = "unknownHandle"
    /// The handle belongs to another app or sender.
    public static let wrongSender: Self = "wrongSender"
    /// The handle has been replaced by another, which the answer names; the message is delivered.
    public static let replacedHandle: Self = "replacedHandle"
    /// The token that authorizes the sender is too old.
    public static let expiredToken: Self = "expiredToken"
    /// The sender's credential is not accepted any more.
    public static let credentialRefused: Self = "credentialRefused"
    /// An answer whose reason nobody has heard of.
    public static let unknownReason: Self = "unknownReason"
    /// Taken with success, and thrown away.
    public static let dropped: Self = "dropped"
    /// A token endpoint's answer that is no JSON.
    public static let malformedToken: Self = "malformedToken"
    /// A token endpoint's answer that states its lifetime as text.
    public static let textualLifetime: Self = "textualLifetime"
    /// A token endpoint that refuses the credential (`invalid_grant`, `invalid_client`).
    public static let tokenRefused: Self = "tokenRefused"

    /// Which requests the fault is for where nobody says.
    public var endpoint: SimulatedSubject.Endpoint {
        switch self {
        case .malformedToken, .textualLifetime, .tokenRefused: .token
        default: .send
        }
    }
}
