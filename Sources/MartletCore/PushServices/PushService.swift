public import MartletHTTP
public import MartletModel

/// One push service as a translator: it makes requests and reads responses and opens nothing.
///
/// An instance belongs to one credential of one hub.
public protocol PushService: PushPlatform {
    /// - Throws: `PushServiceError` naming the property that is missing or unusable; never its value.
    init(credential: Credential) throws(PushServiceError)

    /// How requests prove who sends them.
    /// - Parameter now: The time for tokens that the translator signs itself.
    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization

    /// What all requests of a batch have in common.
    /// - Parameters:
    ///   - token: What `authorization` came to, where it gave or fetched a token.
    ///   - expiry: When the service is to stop trying.
    func shared(_ message: Message, token: String?, expiry: Timestamp) throws(PushServiceError) -> RequestBatch.Shared

    /// Adds the request to one device.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - id: The same for every attempt to bring this notification to this device.
    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch)

    /// What an answer means.
    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome
}

/// How requests to a push service prove who sends them.
public enum Authorization: Sendable {
    /// By the connection or by each request itself: there is no token.
    case none
    /// A token that the translator signed.
    case token(SignedToken)
}

/// A token with its times.
public struct SignedToken: Sendable, CustomStringConvertible {
    public var value: String
    /// When a new one may be made, at the earliest.
    public var renewableAt: Timestamp
    /// When a new one must have been made.
    public var expiresAt: Timestamp

    public init(value: String, renewableAt: Timestamp, expiresAt: Timestamp) {
        self.value = value
        self.renewableAt = renewableAt
        self.expiresAt = expiresAt
    }

    public var description: String { "token valid to \(expiresAt.iso8601)" }
}
