import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletOpenIDConnect
import Synchronization

/// Determines the user who sends a request.
final class Authenticator: Sendable {
    private let users: UserDirectory
    private let provider: Mutex<IdentityProvider?>
    private let time: any TimeSource
    private let sessionLifetime: Duration
    private let state: Mutex<State>
    private let slowedDown: @Sendable (String) -> Void
    /// The password checks in progress.
    ///
    /// A key is the code of the check (`CheckedPasswords`). Requests that send the same credentials from the same
    /// network at the same time share one check.
    private let checks = Mutex<[[UInt8]: Task<BackendError?, Never>]>([:])

    /// The limit on failed log-ins and the remembered results of checks. They are under one lock, so that a remembered
    /// result is never read before the limit has admitted the attempt, and attempts at the same time do not get around
    /// the limit.
    private struct State: Sendable {
        var limiter: LoginLimiter
        var checked: CheckedPasswords
    }

    /// How long the result of a check is remembered.
    private static let checkedLifetime = Duration.seconds(600)

    /// - Parameters:
    ///   - provider: The identity provider whose tokens are accepted besides session tokens.
    ///   - slowedDown: Called with the client's network for each attempt that the limit refuses.
    init(
        users: UserDirectory, provider: IdentityProvider?, time: any TimeSource, sessionLifetime: Duration,
        limits: LoginLimiter.Settings, slowedDown: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CryptoError) {
        self.users = users
        self.provider = Mutex(provider)
        self.time = time
        self.sessionLifetime = sessionLifetime
        self.slowedDown = slowedDown
        let checked = try CheckedPasswords(lifetime: Self.checkedLifetime)
        state = Mutex(State(limiter: LoginLimiter(limits), checked: checked))
    }

    /// Returns the user whose credentials a request carries.
    /// - Throws: A refusal with the status 401 or 403 if the credentials are missing or not valid, among other errors.
    func caller(of request: HTTPRequest) async throws(BackendError) -> Caller {
        switch try Credentials(request.fields) {
        case .password(let user, let password):
            let (name, user) = try await check(user, password, from: request)
            return caller(name, user)
        case .token(let token):
            let hash = SHA256.hash(Array(token.utf8))
            let now = time.now
            let session = try await stored { () throws(StorageError) in
                try await users.store.session(tokenHash: hash, at: now)
            }
            guard let session, let name = try? UserName(session.userName) else { throw .badSession }
            // The user is read each time, so that a revoked role takes effect at once.
            guard let user = try await find(name) else { throw .badSession }
            return caller(name, user)
        case .identityToken(let token):
            guard let provider = provider.withLock(\.self) else {
                throw .badToken("The server has no identity provider; log in for a session.")
            }
            var caller = try await provider.caller(showing: token)
            caller.accountCreatedAt = try await find(caller.name)?.createdAt
            return caller
        }
    }

    private func caller(_ name: UserName, _ user: User) -> Caller {
        var caller = Caller(name: name, roles: user.roles)
        caller.accountCreatedAt = user.createdAt
        return caller
    }

    func accept(tokensOf provider: IdentityProvider?) {
        self.provider.withLock { $0 = provider }
    }

    /// Opens a session for a caller who knows the password.
    func openSession(
        _ user: String, password: String, from request: HTTPRequest
    ) async throws(BackendError) -> (token: String, expires: Timestamp) {
        let (name, checked) = try await check(user, Array(password.utf8), from: request)
        let token = Base64URL.encode(RandomBytes.generate(32))
        let now = time.now
        let session = Session(
            tokenHash: SHA256.hash(Array(token.utf8)), userName: name.spelling, createdAt: now,
            expiresAt: now + sessionLifetime)
        try await stored { () throws(StorageError) in try await users.store.addSession(session) }
        // If the password changed meanwhile, the change ended the sessions that existed then, but not this new session.
        // So the new session is removed here.
        guard try await find(name)?.passwordHash == checked.passwordHash else {
            _ = try await stored { () throws(StorageError) in
                try await users.store.removeSession(tokenHash: session.tokenHash)
            }
            throw .badCredentials
        }
        return (token, session.expiresAt)
    }

    /// Ends the session whose token a request carries.
    /// - Throws: `.noSession` if the request carries no session token, `.badSession` if the session has ended already.
    func closeSession(of request: HTTPRequest) async throws(BackendError) {
        guard case .token(let token) = try Credentials(request.fields) else { throw .noSession }
        let wasThere = try await stored { () throws(StorageError) in
            try await users.store.removeSession(tokenHash: SHA256.hash(Array(token.utf8)))
        }
        guard wasThere else { throw .badSession }
    }

    private func check(
        _ text: String, _ password: [UInt8], from request: HTTPRequest
    ) async throws(BackendError) -> (name: UserName, user: User) {
        guard text.utf8.count <= UserName.lengthLimit, password.count <= UserDirectory.passwordLimit else {
            throw .badCredentials
        }
        let name = try? UserName(text)
        let user = if let name { try await find(name) } else { User?.none }
        let folded = name?.folded ?? text.lowercased()
        try await verifyOnce(password, of: user, folded, from: request.clientAddress)
        guard let user, let name = try? UserName(user.name) else { throw .badCredentials }
        return (name, user)
    }

    /// Checks a password, but only once for all requests that arrive while the same password is being checked. So an
    /// app that sends several requests at once makes a single attempt. This also applies to unknown names; otherwise
    /// the number of checks would reveal which names exist.
    private func verifyOnce(
        _ password: [UInt8], of user: User?, _ folded: String, from address: String
    ) async throws(BackendError) {
        let subject = user?.passwordHash ?? "no user \(folded)"
        let network = LoginLimiter.network(of: address)
        guard let code = state.withLock({ $0.checked.code(password, subject, in: network) }) else { throw .busy }
        let check = checks.withLock { checks in
            if let check = checks[code] { return check }
            let check = Task { () -> BackendError? in
                defer { self.checks.withLock { $0[code] = nil } }
                do throws(BackendError) {
                    try await verify(password, code, of: user, folded, from: address)
                    return nil
                } catch {
                    return error
                }
            }
            checks[code] = check
            return check
        }
        if let error = await check.value { throw error }
    }

    /// Checks a password if the limit on failed log-ins allows the attempt. If the result of an earlier check from the
    /// same network is remembered, that result is used. Otherwise the password is checked against the stored slow hash.
    /// An unknown user takes the same path as an existing user.
    ///
    /// A network that has used up the limit is refused before anything is compared, so the answer is the same for a
    /// right and a wrong password.
    /// - Parameter code: The code of this check.
    private func verify(
        _ password: [UInt8], _ code: [UInt8], of user: User?, _ folded: String, from address: String
    ) async throws(BackendError) {
        let now = time.now
        let (decision, remembered, share) = state.withLock { state in
            let decision = state.limiter.attempt(user: folded, address: address, at: now)
            var remembered: CheckedPasswords.Result?
            if case .admitted(let attempt) = decision {
                remembered = state.checked.result(of: code, at: now)
                // An attempt with a remembered result is not counted. A right password is no failure, and a wrong
                // password was counted when it was checked.
                if remembered != nil { state.limiter.withdrawn(attempt, at: now) }
            }
            return (decision, remembered, state.limiter.share(of: folded, address: address))
        }
        let attempt: LoginLimiter.Attempt
        switch decision {
        case .refused(let wait):
            slowedDown(LoginLimiter.neighborhood(of: address))
            throw .tooManyAttempts(retryAfter: wait.components.seconds + 1)
        case .admitted(let admitted): attempt = admitted
        }
        switch remembered {
        case .right: return
        case .wrong: throw .badCredentials
        case nil: break
        }
        guard let isRight = await users.verify(password, against: user?.passwordHash, share: share) else {
            state.withLock { $0.limiter.withdrawn(attempt, at: time.now) }
            throw .busy
        }
        guard isRight, user != nil else {
            // A device that still has a former password repeats it. It must not use up the attempts of the user's other
            // devices behind the same address.
            if attempt.wasKnown { state.withLock { $0.checked.insert(.wrong, of: code, at: time.now) } }
            throw .badCredentials
        }
        state.withLock { state in
            state.limiter.succeeded(attempt, at: time.now)
            state.checked.insert(.right, of: code, at: time.now)
        }
    }

    private func find(_ name: UserName) async throws(BackendError) -> User? {
        try await stored { () throws(StorageError) in try await users.store.user(name.folded) }
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(BackendError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw BackendError(error)
        }
    }
}
