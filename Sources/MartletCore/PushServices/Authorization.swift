public import MartletHTTP
public import MartletModel

/// How requests to a push service prove who sends them.
public enum Authorization: Sendable {
    /// By the connection or by each request itself: there is no token.
    case none
    /// A token that the translator signed.
    case token(AuthorizationToken)
    /// A token that somebody gives who is asked for it, as in OAuth 2.
    case exchange(TokenExchange)
}

/// A token with its times, from which the engine tells when to renew it: five sixths of the way from the first to the
/// last moment. It then sends with the old one until it has the new one.
public struct AuthorizationToken: Sendable, CustomStringConvertible {
    public var value: String
    /// When a new one may be made, at the earliest: for a token that was given, when that was.
    public var renewableAt: Timestamp
    /// When a new one must have been made: nothing is sent with this one any more.
    public var expiresAt: Timestamp

    public init(value: String, renewableAt: Timestamp, expiresAt: Timestamp) {
        self.value = value
        self.renewableAt = renewableAt
        self.expiresAt = expiresAt
    }

    public var description: String { "token valid to \(expiresAt.iso8601)" }
}

/// A request whose answer brings a token. The engine sends it with its own client, one at a time for each credential.
public struct TokenExchange: Sendable {
    public var request: HTTPRequest
    public var origin: HTTPOrigin
    public var settings: TransportSettings

    public init(_ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings = TransportSettings()) {
        self.request = request
        self.origin = origin
        self.settings = settings
    }
}

/// What the answer to a token exchange comes to.
public enum TokenAnswer: Sendable {
    case token(AuthorizationToken)
    /// Nothing can be sent for now: what all pushes that wait for the token come to. The reaction is `.stop` where the
    /// credential was refused, and a `.retry` of the platform where asking again may help.
    case refused(Outcome)
}
