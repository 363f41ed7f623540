public import MartletCore
public import MartletCrypto
import MartletHTTP
import MartletModel
public import MartletOpenIDConnect

/// The app backend: users log in, register their devices and notify each other by name (NotificationHubs.md, section
/// 14).
///
/// The backend sits in front of a hub, like the backends in Microsoft's tutorials for Notification Hubs. The apps of
/// these tutorials work with it unchanged.
///
/// | request | answer |
/// |---|---|
/// | `POST /api/sessions` `{"user", "password"}` | 201 `{"token", "expires"}` |
/// | `DELETE /api/sessions` | 204; ends the session whose token was sent |
/// | `POST /api/register[?handle=H]` | 200, an id as a JSON string, or as plain text if `Accept` has `text/plain` |
/// | `PUT /api/register/{id}` `{"Platform", "Handle", "Tags"}` | 200; 410 if the id can no longer be used |
/// | `DELETE /api/register/{id}` | 200 |
/// | `GET /api/users/{name}/keys` | 200 `{"user", "devices"}`: the keys to encrypt for the user's devices |
/// | `POST /api/notifications?pns=P&to_tag=USER` `"text"` | 200 `{"id"}` |
/// | `POST /api/notifications/message` `{"to", "message"}` | 201 `{"id"}`; one message for all platforms |
/// | `POST /api/notifications/rich` form or JSON | 201 `{"id"}`; the content stays here, pushes carry the id |
/// | `POST /api/notifications/secure` `{"to", "payload"}` | 201 `{"id"}` |
/// | `POST /api/notifications/encrypted` `{"to", "ciphertexts"}` | 201 `{"devices"}` |
/// | `POST /api/notifications` | 200 `{"id"}`; a sample to the caller's own devices, if this is enabled |
/// | `GET /api/notifications/{id}` | 200, the content, for its addressees |
/// | `GET /api/notifications/{id}/readers` | 200, its recipients and when each has read it, for its sender |
/// | `POST /api/receipts` `{"device", "receipts"}` | 204 |
/// | `GET /api/openapi.json` | 200, the machine-readable description of this API |
///
/// All requests but the first and the last need `Authorization`: Basic with user and password, or Bearer with a token
/// of a session or of the identity provider. A refusal is `{"code", "message"}`: a stable number and a sentence.
public struct Backend: Sendable {
    /// The first path segment of all requests that the backend answers.
    public static let pathPrefix = "api"

    let users: any UserStore
    let devices: DeviceRegistry
    let intake: NotificationIntake
    let keys: any DeviceKeyStore
    let payloads: any PayloadStore
    let bodies: PayloadBodies
    let uploads = UploadLedger()
    let misses = MissLimiter()
    /// Limits the requests of each user. The key is the user's name in lower case.
    private let rates = RateLimiter<String>(countLimit: 10_000)
    /// Limits the bytes that each user writes to registrations. The key is the user's name in lower case.
    let registrationBytes = RateLimiter<String>(countLimit: 10_000)
    let receipts: any ReceiptStore
    let sends: any SendRecordStore
    let platforms: PushPlatformList
    let hub: BackendHub
    let time: any TimeSource
    private(set) var settings: BackendSettings
    let authenticator: Authenticator

    /// - Parameters:
    ///   - bodies: Stores the contents of rich payloads.
    ///   - slowedDown: Called for each log-in that is refused because of too many failed log-ins, with the client's
    ///     network (`203.0.113.0/24`).
    /// - Throws: `CryptoError` if the cryptographic library is out of memory.
    public init(
        users: UserDirectory, devices: DeviceRegistry, intake: NotificationIntake, keys: any DeviceKeyStore,
        payloads: any PayloadStore, bodies: PayloadBodies, receipts: any ReceiptStore, sends: any SendRecordStore,
        platforms: PushPlatformList, hub: BackendHub, identityProvider: IdentityProvider? = nil, time: any TimeSource,
        settings: BackendSettings = BackendSettings(), slowedDown: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CryptoError) {
        self.users = users.store
        self.devices = devices
        self.intake = intake
        self.keys = keys
        self.payloads = payloads
        self.bodies = bodies
        self.receipts = receipts
        self.sends = sends
        self.platforms = platforms
        self.hub = hub
        self.time = time
        self.settings = settings
        authenticator = try Authenticator(
            users: users, provider: identityProvider, time: time, sessionLifetime: settings.sessionLifetime,
            limits: LoginLimiter.Settings(), slowedDown: slowedDown)
    }

    /// Returns the same backend with other settings. The copy shares all counters, such as the one for failed log-ins.
    public func with(_ settings: BackendSettings) -> Backend {
        var copy = self
        copy.settings = settings
        return copy
    }

    /// Replaces the identity provider whose tokens are accepted, in this backend and in all its copies. With nil, no
    /// identity token is accepted.
    public func accept(tokensOf provider: IdentityProvider?) {
        authenticator.accept(tokensOf: provider)
    }
}

extension Backend {
    /// Answers a request to a route that needs no user. An error becomes a JSON answer.
    func answer(_ work: () async throws(BackendError) -> HTTPResponse) async -> HTTPResponse {
        do throws(BackendError) {
            return try await work()
        } catch {
            return HTTPResponse(error)
        }
    }

    /// Answers a request to a route that needs a user. A caller without valid credentials only learns that the
    /// credentials were refused.
    func answer(
        _ request: HTTPRequest, _ work: (Caller) async throws(BackendError) -> HTTPResponse
    ) async -> HTTPResponse {
        await answer { () throws(BackendError) in
            let caller = try await authenticator.caller(of: request)
            if let wait = rates.take(caller.name.folded, at: settings.requestRate, now: time.now) {
                throw .tooManyRequests(retryAfter: wait.retryAfterSeconds)
            }
            let account = HTTPBodyAccount.caller(caller.name.folded, scope: Self.pathPrefix)
            request.stream?.charge(to: account)
            // No route of the backend has dry runs or tests, and most of those that need a user and are asked with POST
            // send something.
            if request.method == .post, let sentence = HTTPTarget(request.target)?.refusalOfTrial {
                throw .badParameters(sentence + ".")
            }
            if request.method == .get {
                guard await request.hasAnswerRoom(HTTPRequest.documentBytes, for: account) else { throw .overloaded }
            }
            return try await work(caller)
        }
    }

    /// Answers a request to a route that needs a user and the whole body. No byte of the body is requested before the
    /// user is known.
    func answer(
        collecting request: HTTPRequest,
        _ work: (Caller, HTTPRequest) async throws(BackendError) -> HTTPResponse
    ) async -> HTTPResponse {
        await answer(request) { caller throws(BackendError) in try await work(caller, try await request.collected()) }
    }

    /// Runs work that can fail only with a storage error, and converts that error.
    func stored<Value>(
        _ work: () async throws(StorageError) -> Value
    ) async throws(BackendError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw BackendError(error)
        }
    }

    /// Checks that the policy allows a send.
    /// - Throws: `.notAllowed` if the policy forbids the send.
    func check(_ caller: Caller, maySendTo audience: SendAudience) throws(BackendError) {
        guard settings.policy.allows(caller, toSendTo: audience) else { throw .notAllowed }
    }

    /// Returns the push platform with the name that a caller gave.
    /// - Throws: `.badPlatform` if there is no such platform.
    func platform(named name: String) throws(BackendError) -> any PushPlatform.Type {
        if let platform = platforms.named(name) { return platform }
        throw .badPlatform("There is no such push platform; use one of: \(platforms.names.joined(separator: ", ")).")
    }
}
