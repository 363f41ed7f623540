public import MartletHTTP
public import MartletModel

/// One push service as a translator: it makes requests and reads responses and opens nothing.
///
/// An instance belongs to one credential of one hub. For a page of devices the engine
/// 1. sorts the devices by `origin(of:)` where `handlesAreAddresses`, and takes the service `at(_:)` each origin;
/// 2. gets the token that `authorization(at:)` comes to, which it keeps, renews and, after an answer `.reauthorize`,
///    replaces;
/// 3. asks once for what the requests of a batch `shared`, and for each device to `append` its request;
/// 4. sends the batch and asks for the `outcome` of every answer.
public protocol PushService: PushPlatform {
    /// Whether handles are addresses, so that devices are at several origins.
    ///
    /// Anyone who registers such a handle may have chosen the address: an origin that cannot be reached is the misfortune of
    /// its own devices and pauses nobody else.
    static var handlesAreAddresses: Bool { get }

    /// Whether a token is good for one origin alone, so that `authorization(at:)` is asked of the service at each.
    static var tokensAreForOneOrigin: Bool { get }

    /// Whether the service answers a dead token by slowing down the whole connection, so that devices which were called
    /// dead and kept want one of their own.
    static var slowsConnectionsOfStaleDevices: Bool { get }

    /// How fast may be sent to the service; nil as fast as it takes.
    var pace: SendingRate? { get }

    /// When the credential ends by itself, as a certificate does; nil where it does not.
    var expiresAt: Timestamp? { get }

    /// - Throws: `PushServiceError` naming the property that is missing or unusable; never its value.
    init(credential: Credential) throws(PushServiceError)

    /// Where a device is reached, for services whose handles are addresses.
    /// - Parameter handle: The text of the handle, already checked.
    /// - Throws: `PushServiceError` for an address that nothing may be sent to, which ends this device's push.
    func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin

    /// The service for devices at one origin, as `origin(of:)` gave it.
    func at(_ origin: HTTPOrigin) -> Self

    /// How requests prove who sends them. Asked when a token is needed, not for every batch.
    /// - Parameter now: The time for tokens that the translator signs itself.
    /// - Throws: `PushServiceError` where the credential cannot be used after all, which pauses the whole platform.
    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization

    /// Reads the answer to the request of a `TokenExchange`.
    func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer

    /// What all requests of a batch have in common.
    ///
    /// A body that is here goes to every device, but where templates give devices bodies of their own, which the
    /// engine then puts in its place. Where no body is here, `append` writes each device's own.
    /// - Parameters:
    ///   - message: What the first device of the batch is sent. The others' differ from it in the body at most.
    ///   - token: What `authorization` came to, where it gave or fetched a token; nil too where nothing is sent and
    ///     messages are only compared.
    ///   - expiry: When the service is to stop trying.
    ///   - now: The time from which services count that are told a duration.
    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared

    /// Adds the request to one device: the rest of its path, its values of `Shared.itemFieldNames`, and its body where
    /// none is shared.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - id: The same for every attempt to bring this notification to this device.
    ///   - message: What this device is sent.
    /// - Throws: `PushServiceError` where this device cannot be sent to; the batch is then as it was. `.unsuited` counts as
    ///   skipped and not as a failure.
    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError)

    /// What a handle has to belong to besides the credential, such as an app's topic: where that is wrong, every handle
    /// looks dead, and successes of others prove nothing. Empty where the credential says it all.
    func application(of message: Message) -> String

    /// What an answer means. Plain successes (`RequestBatch.Shared.plainSuccess`) are not asked about.
    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome

    /// The same, for services where it depends on what was sent.
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
