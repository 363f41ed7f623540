import MartletModel

/// An app's way to its push server: log in, register this device, notify other users.
///
/// ```swift
/// let client = PushClient(
///     server: try ServerAddress("https://push.example.org"), transport: URLSessionTransport(),
///     registrationIDs: UserDefaultsRegistrationIDStore())
///
/// try await client.logIn(user: "alice", password: password)
///
/// // In application(_:didRegisterForRemoteNotificationsWithDeviceToken:), at every launch:
/// try await client.register(deviceToken: deviceToken, platform: "apns", tags: ["news"])
///
/// try await client.send("Dinner at eight?", to: "bob", platform: "apns")
/// ```
///
/// The client keeps the rules of push registration by itself:
/// - Ask the system for the device token at **every** launch and pass it on. The client never stores it, so it can never
///   send an old one; where the token has changed, the registration changes with it.
/// - The id of the registration is kept from launch to launch in a `RegistrationIDStore`. When the server says that it
///   is gone, the client forgets it, asks for another and registers again.
/// - What fails and may pass (no network, a server that is restarting) is tried again, waiting longer each time.
/// - When a session ends, the client logs in again with the credentials that it has; where it has none, or they are
///   wrong now, it throws `PushClientError` of kind `logInNeeded`.
public actor PushClient {
    let server: ServerAddress
    let transport: any ClientTransport
    let retry: RetryPolicy
    let surroundings: ClientSurroundings
    let encryption: EndToEndEncryption?
    private let credentials: any CredentialStore
    private let registrationIDs: any RegistrationIDStore
    /// The token of the session; nil where there is none.
    private var session: String?
    /// Counts who has been logged in, nobody included: what was begun for another is not kept.
    private var lastUser = 0
    /// Counts `register` and `unregister`: the last one is what the app wants.
    private var lastWish = 0
    private var isRegistering = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - server: Where the server is.
    ///   - transport: What carries the requests, such as `URLSessionTransport`.
    ///   - credentials: Where user name and password are kept while somebody is logged in.
    ///   - registrationIDs: Where the id of the registration is kept; use one that outlives the launch.
    ///   - encryption: What end-to-end encryption needs; nil where the app does without.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, transport: any ClientTransport,
        credentials: any CredentialStore = MemoryCredentialStore(),
        registrationIDs: any RegistrationIDStore = MemoryRegistrationIDStore(),
        encryption: EndToEndEncryption? = nil, retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: transport, credentials: credentials, registrationIDs: registrationIDs,
            encryption: encryption, retry: retry, surroundings: ClientSurroundings())
    }

    init(
        server: ServerAddress, transport: any ClientTransport, credentials: any CredentialStore,
        registrationIDs: any RegistrationIDStore, encryption: EndToEndEncryption? = nil, retry: RetryPolicy,
        surroundings: ClientSurroundings
    ) {
        self.server = server
        self.transport = transport
        self.credentials = credentials
        self.registrationIDs = registrationIDs
        self.encryption = encryption
        self.retry = retry
        self.surroundings = surroundings
    }

    // MARK: Logging in

    /// Logs a user in and keeps the credentials in the `CredentialStore`.
    /// - Throws: `PushClientError`, of kind `wrongPassword` or `tooManyAttempts` where the user can do something.
    public func logIn(user: String, password: String) async throws(PushClientError) {
        let given = Credentials(user: user, password: password)
        let token = try await retrying { () throws(Setback) in try await openSession(given) }
        lastUser += 1
        session = token
        await credentials.save(given)
    }

    /// Forgets the credentials and ends the session. The device stays registered: call `unregister` before, unless the
    /// user shall be notified further.
    ///
    /// The user is logged out on this device even where this throws because the server could not be told.
    public func logOut() async throws(PushClientError) {
        lastUser += 1
        await credentials.save(nil)
        guard let token = session else { return }
        session = nil
        try await retrying { () throws(Setback) in
            let answer = try await exchange(request("DELETE", "/api/sessions", token: token))
            guard answer.status == 204 || answer.status == 401 else { throw Setback(answer) }
        }
    }

    // MARK: Registering this device

    /// Registers this device for the user who is logged in, or changes its registration.
    /// - Parameters:
    ///   - deviceToken: The bytes that the system gave at this launch, such as the `Data` of
    ///     `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///   - platform: The push platform, in the server's word: `apns` and the like.
    ///   - tags: What the device shall be addressed by besides its user's name.
    /// - Throws: `PushClientError`.
    public func register(
        deviceToken: some Sequence<UInt8>, platform: String, tags: [String] = []
    ) async throws(PushClientError) {
        try await register(handle: DeviceToken.hexadecimal(deviceToken), platform: platform, tags: tags)
    }

    /// Registers this device where the platform's handle is a text, such as a registration token or a channel's address.
    ///
    /// As `register(deviceToken:platform:tags:)` in all else.
    public func register(handle: String, platform: String, tags: [String] = []) async throws(PushClientError) {
        try await asLastWish { () throws(Setback) in
            var members: [String: JSON] = [
                "Platform": .string(platform), "Handle": .string(handle), "Tags": .array(tags.map { .string($0) }),
            ]
            for (name, value) in try await keyMembers() { members[name] = value }
            let body = JSON.object(members)
            if let id = await registrationIDs.load() {
                if try await put(body, id: id) { return }
                await registrationIDs.save(nil)
            }
            let id = try await newID(for: handle)
            await registrationIDs.save(id)
            guard try await put(body, id: id) else {
                await registrationIDs.save(nil)
                throw .final(.serverProblem(status: 410), "The server took back the registration's new id.")
            }
        }
    }

    /// Removes this device's registration, so that it is notified no more. Does nothing where there is none.
    public func unregister() async throws(PushClientError) {
        try await asLastWish { () throws(Setback) in
            guard let id = await registrationIDs.load() else { return }
            let answer = try await ask("DELETE", "/api/register/\(percentEncoded(id))")
            guard [200, 204, 404, 410].contains(answer.status) else { throw Setback(answer) }
            await registrationIDs.save(nil)
        }
    }

    // MARK: Notifying

    /// Shows a text on all devices that a user has on one platform.
    /// - Parameters:
    ///   - text: Any text; the server puts the sender's name before it.
    ///   - user: One user's name. Whether there is such a user is not told.
    ///   - platform: The push platform, in the server's word.
    /// - Returns: The id under which the server delivers it.
    /// - Throws: `PushClientError`; unless its kind is `unreachable` or `cancelled`, nothing was sent.
    @discardableResult
    public func send(_ text: String, to user: String, platform: String) async throws(PushClientError) -> String {
        let target = "/api/notifications?pns=\(percentEncoded(platform))&to_tag=\(percentEncoded(user))"
        return try await retrying(isRepeatable: false) { () throws(Setback) in
            let answer = try await ask("POST", target, .string(text))
            guard answer.status == 200 else { throw Setback(answer) }
            return (try? JSON(parsing: answer.body))?["id"]?.string ?? ""
        }
    }
}

extension PushClient {
    /// Does the work of `register` and `unregister`: one attempt at a time, and none any more once the app wants
    /// something else.
    private func asLastWish(_ work: () async throws(Setback) -> Void) async throws(PushClientError) {
        lastWish += 1
        let wish = lastWish
        try await retrying { () throws(Setback) in
            await takeTurn()
            defer { endTurn() }
            guard wish == lastWish else { throw .superseded }
            try await work()
        }
    }

    private func takeTurn() async {
        guard isRegistering else {
            isRegistering = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func endTurn() {
        if waiting.isEmpty { isRegistering = false } else { waiting.removeFirst().resume() }
    }

    private func newID(for handle: String) async throws(Setback) -> String {
        let answer = try await ask("POST", "/api/register?handle=\(percentEncoded(handle))")
        guard answer.status == 200 else { throw Setback(answer) }
        guard let id = (try? JSON(parsing: answer.body))?.string, !id.isEmpty else {
            throw .final(.serverProblem(status: 200), "The server's answer holds no registration id.")
        }
        return id
    }

    /// - Returns: false where the id can no longer be used.
    private func put(_ body: JSON, id: String) async throws(Setback) -> Bool {
        let answer = try await ask("PUT", "/api/register/\(percentEncoded(id))", body)
        if answer.status == 410 { return false }
        guard answer.status == 200 else { throw Setback(answer) }
        return true
    }

    /// Asks as the user who is logged in; logs in again, once, where the session has ended.
    func ask(_ method: String, _ target: String, _ body: JSON? = nil) async throws(Setback) -> ClientResponse {
        let token = if let session { session } else { try await reopenSession() }
        let answer = try await exchange(request(method, target, body, token: token))
        guard answer.status == 401 else { return answer }
        if session == token { session = nil }
        let fresh = if let session { session } else { try await reopenSession() }
        let second = try await exchange(request(method, target, body, token: fresh))
        guard second.status == 401 else { return second }
        session = nil
        throw .logInNeeded
    }

    /// Logs in with the credentials that are kept; what the caller wants to ask has not been asked by then.
    private func reopenSession() async throws(Setback) -> String {
        let user = lastUser
        guard let kept = await credentials.load() else { throw .logInNeeded }
        do throws(Setback) {
            let token = try await openSession(kept)
            guard user == lastUser else { throw .superseded }
            session = token
            return token
        } catch {
            guard user == lastUser else { throw .superseded }
            guard error.error.kind == .wrongPassword else { throw error.withoutEffect }
            await credentials.save(nil)
            throw .logInNeeded
        }
    }

    /// Too many failed log-ins are final: trying on by itself would only prolong the wait.
    private func openSession(_ credentials: Credentials) async throws(Setback) -> String {
        let body: JSON = ["user": .string(credentials.user), "password": .string(credentials.password)]
        let answer = try await exchange(request("POST", "/api/sessions", body), except: 429)
        switch answer.status {
        case 201: break
        case 401: throw .final(.wrongPassword, "The user name or the password is wrong.")
        default: throw Setback(answer).withoutAnotherTry
        }
        guard let token = (try? JSON(parsing: answer.body))?["token"]?.string else {
            throw .final(.serverProblem(status: 201), "The server's answer holds no session.")
        }
        return token
    }
}
