/// A fault in an answer of a simulated service. Each service expresses the fault in its own form (PushServices.md,
/// section 10.8).
public struct ServiceFault: Hashable, Sendable {
    /// The name of a fault.
    ///
    /// Any name is possible, so that a service can define faults of its own in an extension in its folder.
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
    /// The value of the answer's `retry-after` field; nil for an answer without the field.
    public var retryAfter: RetryAfterField?
    /// The number of seconds since the handle became invalid, for a fault that says that the handle is gone. Only the
    /// simulator of APNs uses it.
    public var age: Int?
    /// Whether all later requests on the connection are refused in the same way, even requests that the fault is not
    /// meant for. Only the simulator of APNs supports this.
    public var isSticky: Bool
    /// Whether the message is delivered although the answer is an error.
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

/// The names of the faults that most services have.
///
/// Each service lists the faults that it supports (`PushServiceSimulator.faults`).
extension ServiceFault.Name {
    /// The sender has sent too many messages.
    public static let rateLimit: Self = "rateLimit"
    /// The device was sent too many messages.
    public static let deviceRateLimit: Self = "deviceRateLimit"
    public static let internalError: Self = "internalError"
    public static let unavailable: Self = "unavailable"
    /// The app was removed from the device.
    public static let unregistered: Self = "unregistered"
    /// The handle was not issued by the service.
    public static let unknownHandle: Self = "unknownHandle"
    /// The handle belongs to another app or sender.
    public static let wrongSender: Self = "wrongSender"
    /// The handle has been replaced by a new handle, which the answer contains. The message is delivered.
    public static let replacedHandle: Self = "replacedHandle"
    /// The token that authorizes the sender has expired.
    public static let expiredToken: Self = "expiredToken"
    /// The sender's credential is no longer accepted.
    public static let credentialRefused: Self = "credentialRefused"
    /// An answer with a reason that is unknown to senders.
    public static let unknownReason: Self = "unknownReason"
    /// The service reports success, but discards the message.
    public static let dropped: Self = "dropped"
    /// A token endpoint's answer that is not JSON.
    public static let malformedToken: Self = "malformedToken"
    /// A token endpoint's answer that states the lifetime as text.
    public static let textualLifetime: Self = "textualLifetime"
    /// A token endpoint that refuses the credential (`invalid_grant`, `invalid_client`).
    public static let tokenRefused: Self = "tokenRefused"

    /// The purpose of the requests to which the fault applies, unless the fault rule names another purpose.
    public var endpoint: SimulatedSubject.Endpoint {
        switch self {
        case .malformedToken, .textualLifetime, .tokenRefused: .token
        default: .send
        }
    }
}
