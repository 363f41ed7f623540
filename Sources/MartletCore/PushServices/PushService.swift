public import MartletHTTP
public import MartletModel

/// Builds the requests to a push service and interprets its responses. It does no I/O: `PageSender` sends the requests.
///
/// Each instance serves one credential of one hub. For each page of devices, `PageSender`
/// 1. groups the devices by `origin(of:)` if `handlesAreAddresses`, and uses the service from `at(_:)` for each origin;
/// 2. gets a token as `authorization(at:)` specifies, caches and renews it, and replaces it after `.reauthorize`;
/// 3. calls `shared` once for the common part of the requests of a batch, and `append` for the request to each device;
/// 4. sends the batch and calls `outcome` for every answer.
public protocol PushService: PushPlatform {
    /// True if handles are addresses, so that devices have different origins.
    ///
    /// A device that registers may choose any address. Therefore an origin that cannot be reached affects only its own
    /// devices, and does not pause others.
    static var handlesAreAddresses: Bool { get }

    /// True if a token is valid at one origin only, so that `authorization(at:)` is called for each origin.
    static var tokensAreForOneOrigin: Bool { get }

    /// True if the service slows down a whole connection after a push to a dead token, so that suspected stale devices
    /// need a separate connection.
    static var slowsConnectionsOfStaleDevices: Bool { get }

    /// The maximum sending rate; nil to send as fast as the service accepts messages.
    var pace: SendingRate? { get }

    /// The time when the credential, such as a certificate, expires; nil if it does not expire.
    var expiresAt: Timestamp? { get }

    /// Creates the service for a credential.
    /// - Throws: `PushServiceError` with the name of the property that is missing or unusable, but never with its
    ///   value.
    init(credential: Credential) throws(PushServiceError)

    /// Returns the origin of a device, for services whose handles are addresses.
    /// - Parameter handle: The text of the handle, already checked.
    /// - Throws: `PushServiceError` if nothing may be sent to the address; then the push to this device fails.
    func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin

    /// Returns a service for the devices at one origin, which `origin(of:)` has returned.
    func at(_ origin: HTTPOrigin) -> Self

    /// Returns how requests are authenticated. Called when a token is needed, not for every batch.
    /// - Parameter now: The current time, for tokens that the `PushService` signs.
    /// - Throws: `PushServiceError` if the credential turns out to be unusable, which pauses the whole platform.
    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization

    /// Parses the answer to a `TokenExchange`.
    func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer

    /// Returns the part that all requests of a batch have in common.
    ///
    /// If a body is set here, it is sent to all devices, unless templates produce different bodies for the devices;
    /// then `PageSender` replaces it. If no body is set here, `append` writes the body of each device.
    /// - Parameters:
    ///   - message: The message for the first device of the batch. Messages for the other devices differ from it at
    ///     most in the body.
    ///   - token: The token of `authorization`; nil if there is none, or if messages are only compared and nothing is
    ///     sent.
    ///   - expiry: When the service must stop trying to deliver the message.
    ///   - now: The current time, from which services that expect a duration compute it.
    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared

    /// Appends the request to one device: the rest of its path, its values of `Shared.itemFieldNames`, and its body if
    /// there is no shared body.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - id: The message id, the same for every attempt to send this notification to this device.
    ///   - message: The message for this device.
    /// - Throws: `PushServiceError` if nothing can be sent to this device; then the batch is unchanged. `.unsuited` is
    ///   counted as skipped, not as a failure.
    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError)

    /// Returns the application that a handle must belong to, such as the topic of an app; empty if the credential
    /// determines it. Answers that a handle is dead are judged for each application separately: if the application is
    /// wrong, every handle appears to be dead, and successes of other applications prove nothing about this one.
    func application(of message: Message) -> String

    /// Returns the meaning of an answer. It is not called for plain successes (`RequestBatch.Shared.plainSuccess`).
    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome

    /// Returns the meaning of an answer to a message, for services whose answers depend on the message.
    func outcome(of response: HTTPResponse, to message: Message, at now: Timestamp) -> Outcome
}

extension PushService {
    public static var handlesAreAddresses: Bool { false }
    public static var tokensAreForOneOrigin: Bool { false }
    public static var slowsConnectionsOfStaleDevices: Bool { false }

    public func application(of message: Message) -> String { "" }

    public var pace: SendingRate? { nil }
    public var expiresAt: Timestamp? { nil }

    public func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin {
        throw PushServiceError(.badHandle, "The handles of this platform are no addresses.")
    }

    public func at(_ origin: HTTPOrigin) -> Self { self }

    public func outcome(of response: HTTPResponse, to message: Message, at now: Timestamp) -> Outcome {
        outcome(of: response, at: now)
    }

    public func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        .refused(Outcome(.tokenProviderInterfaceError, reason: "status \(response.status.code)", .stop))
    }
}
