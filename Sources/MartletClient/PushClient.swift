import MartletModel

/// An app's client for its push server: logs users in, registers this device, notifies other users, and fetches what
/// they sent.
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
/// Push registration needs these steps from the app and the client:
/// - Ask the system for the device token at **every** launch and pass it on. The client never stores the token, so it
///   can never send an old one; if the token has changed, the registration is updated.
/// - If the system provides no token, call `registrationFailed(_:askAgain:)`: the failure is recorded, and the
///   registration is tried again later.
/// - The id of the registration is kept across launches. If the server reports that the id no longer exists, the client
///   discards it, requests a new id and registers again.
/// - Temporary failures (no network, a server that is restarting) are retried with increasing waits. A registration, a
///   log-out or a receipt that still fails becomes a **background retry**: it is retried for as long as the process
///   lives, and again by `resume()` at the next launch.
/// - When a session ends, the client logs in again with its stored credentials; if there are none, or they are now
///   wrong, it throws `PushClientError` of kind `logInNeeded`.
public actor PushClient {
    let server: ServerAddress
    let transport: any ClientTransport
    let logIns: StoredValue<LogInRecord>
    let registrationRecord: StoredValue<RegistrationRecord>
    let receiptQueue: StoredValue<ReceiptQueue>
    /// The identity provider where users log in; nil if users log in at this server.
    let tokens: (any TokenProvider)?
    /// The dependencies of end-to-end encryption; nil if the app does not use it.
    let encryption: EndToEndEncryption?
    let retry: RetryPolicy
    let environment: ClientEnvironment

    /// The session token; nil if there is no session.
    var session: String?
    /// A number that is incremented whenever the user changes, also on log-out. The result of work that was begun for
    /// an earlier user is discarded.
    var lastUser = 0
    /// The number of log-ins and log-outs that the app has requested. Only the last of them determines which user, if
    /// any, is logged in.
    var lastLogIn = 0
    var registration = DesiredRegistration()
    /// Ensures that requests about registrations and log-outs are sent one after another.
    let mutex = AsyncMutex()
    var backgroundRetries = BackgroundRetries()

    /// Creates a client for users who log in with a password.
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - transport: The transport for requests, such as `URLSessionTransport`.
    ///   - stores: The stores for data that persists across launches.
    ///   - encryption: The dependencies of end-to-end encryption; nil if the app does not use it.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, transport: any ClientTransport, stores: ClientStores = ClientStores(),
        encryption: EndToEndEncryption? = nil, retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: transport, stores: stores, tokens: nil, encryption: encryption, retry: retry,
            environment: ClientEnvironment())
    }

    /// Creates a client for users who log in at an identity provider (OpenID Connect).
    /// - Parameters:
    ///   - server: The address of the server, which must trust the same provider.
    ///   - transport: The transport for requests, such as `URLSessionTransport`.
    ///   - tokens: The provider of the current bearer token.
    ///   - stores: The stores for data that persists across launches.
    ///   - encryption: The dependencies of end-to-end encryption; nil if the app does not use it.
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
