public import MartletHTTP
public import MartletModel

/// One push service as a translator: it makes requests and reads responses and opens nothing.
///
/// An instance belongs to one credential of one hub. What can be judged without a credential is static, because devices
/// register and messages are accepted before one is there.
public protocol PushService: Sendable {
    static var descriptor: PushServiceDescriptor { get }

    /// Checks a handle and gives the key that the platform compares handles by.
    /// - Throws: `PushServiceError` where no device of the platform can have such a handle.
    static func key(of handle: PushHandle) throws(PushServiceError) -> String

    /// Checks that the service would take the message, as far as that can be known beforehand: form, size, fields.
    static func check(_ message: Message) throws(PushServiceError)

    /// A message that shows a text.
    /// - Throws: `PushServiceError` where the text does not fit the service's limit.
    static func message(showing text: String) throws(PushServiceError) -> Message

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

/// What a push service cannot accept, in a sentence that says what to do.
public struct PushServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        case badCredential
        case badHandle
        case badMessage
        case messageTooLarge
    }

    public let kind: Kind
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
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
