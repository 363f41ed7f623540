public import MartletHTTP
public import MartletModel

/// A push service as a translator: it makes requests and reads responses, and does no I/O.
///
/// An instance is for one credential of one hub. For each page of devices, the engine
/// 1. groups the devices by `origin(of:)` if `handlesAreAddresses`, and uses the service `at(_:)` each origin;
/// 2. gets a token as `authorization(at:)` says; it caches and renews the token, and replaces it after `.reauthorize`;
/// 3. calls `shared` once for what the requests of a batch have in common, and `append` for the request to each device;
/// 4. sends the batch and calls `outcome` for every answer.
public protocol PushService: PushPlatform {
    /// Whether handles are addresses, so that devices are at several origins.
    ///
    /// A device that registers may choose such an address. So an origin that cannot be reached affects only its own
    /// devices, and pauses no others.
    static var handlesAreAddresses: Bool { get }

    /// Whether a token is valid at one origin only, so that `authorization(at:)` is called for each origin.
    static var tokensAreForOneOrigin: Bool { get }

    /// Whether the service slows down a whole connection after a push to a dead token, so that suspected stale devices
    /// need a connection of their own.
    static var slowsConnectionsOfStaleDevices: Bool { get }

    /// The highest sending rate; nil for as fast as the service accepts messages.
    var pace: SendingRate? { get }

    /// When the credential expires, such as a certificate; nil if it does not.
    var expiresAt: Timestamp? { get }

    /// - Throws: `PushServiceError` with the name of the property that is missing or unusable, never with its value.
    init(credential: Credential) throws(PushServiceError)

    /// The origin of a device, for services whose handles are addresses.
    /// - Parameter handle: The text of the handle, already checked.
    /// - Throws: `PushServiceError` if nothing may be sent to the address; the push to this device then fails.
    func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin

    /// The service for devices at one origin, as returned by `origin(of:)`.
    func at(_ origin: HTTPOrigin) -> Self

    /// How requests are authenticated. Called when a token is needed, not for every batch.
    /// - Parameter now: The time for tokens that the translator signs itself.
    /// - Throws: `PushServiceError` if the credential cannot be used after all, which pauses the whole platform.
    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization

    /// Parses the answer to a `TokenExchange`.
    func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer

    /// What all requests of a batch have in common.
    ///
    /// A body that is set here is sent to all devices, unless templates give devices different bodies; then the engine
    /// replaces it. If it is not set here, `append` writes the body of each device.
    /// - Parameters:
    ///   - message: The message for the first device of the batch. Messages for the others differ from it in the body
    ///     at most.
    ///   - token: The token of `authorization`, if it has one; also nil if messages are only compared and nothing is
    ///     sent.
    ///   - expiry: When the service must stop trying.
    ///   - now: The start of durations, for services that are told a duration.
    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared

    /// Appends the request to one device: the rest of its path, its values of `Shared.itemFieldNames`, and its body if
    /// none is shared.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - id: The same for every attempt to send this notification to this device.
    ///   - message: The message for this device.
    /// - Throws: `PushServiceError` if nothing can be sent to this device; then the batch is unchanged. `.unsuited`
    ///   counts as skipped, not as a failure.
    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError)

    /// What a handle must belong to in addition to the credential, such as the topic of an app. If it is wrong, every
    /// handle looks dead, and successes of other applications prove nothing. Empty if it follows from the credential.
    func application(of message: Message) -> String

    /// The meaning of an answer. Not called for plain successes (`RequestBatch.Shared.plainSuccess`).
    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome

    /// The same, for services where the meaning depends on the message.
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
