public import MartletHTTP
public import MartletModel

/// The way in which requests to a push service are authenticated.
public enum Authorization: Sendable {
    /// There is no token. Either the connection has a client certificate, or the push service asks for no
    /// authentication.
    case none
    /// The requests carry a token that this server signs itself, with the credential.
    case token(AuthorizationToken)
    /// The requests carry a token that a token server issues on request, as in OAuth 2.
    case exchange(TokenExchange)
}

/// A token and its validity. `AuthorizationCache` renews the token when five sixths of the time from `renewableAt` to
/// `expiresAt` have passed, and uses the old token until it has a new one.
public struct AuthorizationToken: Sendable, CustomStringConvertible {
    public var value: String
    /// The earliest time at which a new token may be signed; for a requested token, the time at which it was issued.
    public var renewableAt: Timestamp
    /// The time when the token expires. From then on nothing is sent with it.
    public var expiresAt: Timestamp

    public init(value: String, renewableAt: Timestamp, expiresAt: Timestamp) {
        self.value = value
        self.renewableAt = renewableAt
        self.expiresAt = expiresAt
    }

    public var description: String { "token valid to \(expiresAt.iso8601)" }
}

/// A request to a token server for a new token. `AuthorizationCache` sends at most one at a time for each of its keys,
/// as long as the credential stays the same.
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

/// The result of a `TokenExchange`: a token, or the reason why there is none.
public enum TokenAnswer: Sendable {
    case token(AuthorizationToken)
    /// The token was refused or could not be fetched, so nothing can be sent for now. The value is the outcome of all
    /// pushes that wait for the token. Its reaction is `.stop` if the credential was refused, and `.retry` with the
    /// scope of the platform if requesting the token again may help.
    case refused(Outcome)
}
