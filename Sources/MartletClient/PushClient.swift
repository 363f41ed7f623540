import MartletModel

/// An app's way to its push server: log in, register this device, notify other users, fetch what they sent.
///
/// ```swift
/// let client = PushClient(
///     server: try ServerAddress("https://push.example.org"), transport: URLSessionTransport(),
///     stores: .system(service: "org.example.app"))
///
/// try await client.logIn(user: "alice", password: password)
///
/// // In application(_:didRegisterForRemoteNotificationsWithDeviceToken:), at every launch:
/// try await client.register(deviceToken: deviceToken, platform: .apns, tags: ["news"])
///
/// try await client.send("Dinner at eight?", to: "bob", platform: .apns)
/// ```
///
/// The client keeps the rules of push registration by itself:
/// - Ask the system for the device token at **every** launch and pass it on. The client never stores it, so it can never
///   send an old one; where the token has changed, the registration changes with it.
/// - Where the system gives no token, tell `registrationFailed(_:askAgain:)`: that is noted, and tried again later.
/// - The id of the registration is kept from launch to launch. When the server says that it is gone, the client forgets
///   it, asks for another and registers again.
/// - What fails and may pass (no network, a server that is restarting) is tried again, waiting longer each time. What
///   still fails then becomes an **background retry**: it is tried in the background for as long as the process lives, and taken
///   up again by `resume()` at the next launch. Registrations, log-outs and receipts are retried so.
/// - When a session ends, the client logs in again with the credentials that it has; where it has none, or they are
///   wrong now, it throws `PushClientError` of kind `logInNeeded`.
public actor PushClient {
    let server: ServerAddress
    let transport: any ClientTransport
    let logIns: StoredValue<LogInRecord>
    let registrationRecord: StoredValue<RegistrationRecord>
    let receiptQueue: StoredValue<ReceiptQueue>
    /// Whom users log in with instead of this server; nil where that is the server itself.
    let tokens: (any TokenProvider)?
    /// What end-to-end encryption needs; nil where the app does without.
    let encryption: EndToEndEncryption?
    let retry: RetryPolicy
    let environment: ClientEnvironment

    /// The token of the session; nil where there is none.
    var session: String?
    /// Counts who has been logged in, nobody included: what was begun for another is not kept.
    var lastUser = 0
    /// Counts log-ins and log-outs that were asked for: the last one is what the app wants.
    var lastLogIn = 0
    var registration = DesiredRegistration()
    /// Requests about registrations go out one at a time.
    let mutex = AsyncMutex()
    var backgroundRetries = BackgroundRetries()

    /// A client of users who log in with a password.
    /// - Parameters:
    ///   - server: Where the server is.
    ///   - transport: What carries the requests, such as `URLSessionTransport`.
    ///   - stores: Where things are kept from launch to launch.
    ///   - encryption: What end-to-end encryption needs; nil where the app does without.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, transport: any ClientTransport, stores: ClientStores = ClientStores(),
        encryption: EndToEndEncryption? = nil, retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: transport, stores: stores, tokens: nil, encryption: encryption, retry: retry,
            environment: ClientEnvironment())
    }

    /// A client of users who log in at an identity provider (OpenID Connect).
    /// - Parameters:
    ///   - server: Where the server is; it trusts the same provider.
    ///   - transport: What carries the requests, such as `URLSessionTransport`.
    ///   - tokens: What gives the present bearer token.
    ///   - stores: Where things are kept from launch to launch.
    ///   - encryption: What end-to-end encryption needs; nil where the app does without.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, transport: any ClientTransport, tokens: any TokenProvider,
        stores: ClientStores = ClientStores(), encryption: EndToEndEncryption? = nil,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: transport, stores: stores, tokens: tokens, encryption: encryption, retry: retry,
            environment: ClientEnvironment())
    }

    init(
        server: ServerAddress, transport: any ClientTransport, stores: ClientStores, tokens: (any TokenProvider)?,
        encryption: EndToEndEncryption? = nil, retry: RetryPolicy, environment: ClientEnvironment
    ) {
        self.server = server
        self.transport = transport
        logIns = StoredValue(stores.credentials)
        registrationRecord = StoredValue(stores.registration)
        receiptQueue = StoredValue(stores.receipts)
        self.tokens = tokens
        self.encryption = encryption
        self.retry = retry
        self.environment = environment
    }

    deinit {
        backgroundRetries.sleeper?.cancel()
    }
}
