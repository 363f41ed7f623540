import MartletCore
import MartletHTTP
import MartletModel

/// Signs operators in, with a password or a link, and finds the sessions of requests.
struct SignIn: Sendable {
    let directory: OperatorDirectory
    let passwords: any OperatorPasswords
    let factor: SecondFactor
    /// Limits wrong passwords in sessions that are open, because a cookie may be stolen.
    let confirmations: AttemptLimit
    let time: any TimeSource

    private var store: any OperatorStore { directory.store }

    /// A new session, with its token and its operator.
    struct Opened {
        var token: String
        var session: OperatorSession
        var entry: Operator
    }

    /// Opens a session for an operator who knows the password, and has the second factor if there is one.
    /// - Parameter code: The code of the second factor; nil if none was given.
    func open(
        _ name: String, _ password: String, code: String?, from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> Opened {
        guard name.utf8.count <= 64, password.utf8.count <= OperatorDirectory.passwordLengths.upperBound else {
            throw .badCredentials
        }
        let found =
            Operator.isName(name) ? try await stored { () throws(StorageError) in try await store.operator(name) } : nil
        let entry = found.flatMap { $0.isDisabled ? nil : $0 }
        try await check(password, entry?.passwordHash, name, from: request)
        guard let entry, let hash = entry.passwordHash else { throw .badCredentials }
        try await factor.check(entry.name, code: code)
        let (token, session) = makeSession(of: entry.name, from: request)
        // The session is added only if the password was not changed while it was being checked.
        let isOpen = try await stored { () throws(StorageError) in
            try await store.addSession(session, ofPassword: hash)
        }
        guard isOpen else { throw .badCredentials }
        return Opened(token: token, session: session, entry: entry)
    }

    /// Signs an operator in with a link, which then cannot be used again.
    /// - Parameters:
    ///   - password: The operator's new password; nil for a sign-in link.
    ///   - code: The code of the second factor; nil if none was given. For an invitation, an operator with a second
    ///     factor needs this code. A sign-in link needs no code, because whoever made the link on the server's machine
    ///     could also remove the second factor.
    func use(
        _ token: String, password: String?, code: String?, from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> Opened {
        let link = try await link(token)
        var hash: String?
        switch link.kind {
        case .signIn: break
        case .invitation:
            guard let password else { throw .badRequest("An invitation needs a password.") }
            hash = try await self.hash(password)
            try await factor.check(link.operatorName, code: code)
        }
        let (sessionToken, session) = makeSession(of: link.operatorName, from: request)
        let tokenHash = OperatorDirectory.hash(of: token)
        let newHash = hash
        let entry = try await stored { () throws(StorageError) in
            try await store.useLink(tokenHash: tokenHash, passwordHash: newHash, adding: session)
        }
        guard let entry else { throw .badLink }
        directory.changed(entry.name)
        return Opened(token: sessionToken, session: session, entry: entry)
    }

    /// Returns the link with this token.
    /// - Throws: `ConsoleRefusal.badLink` if there is no such link or it can no longer be used.
    func link(_ token: String) async throws(ConsoleRefusal) -> OperatorLink {
        try await found(token).link
    }

    func found(_ token: String) async throws(ConsoleRefusal) -> (link: OperatorLink, entry: Operator) {
        guard token.utf8.count <= 64 else { throw .badLink }
        let hash = OperatorDirectory.hash(of: token)
        let now = time.now
        let link = try await stored { () throws(StorageError) in try await store.link(tokenHash: hash, at: now) }
        guard let link else { throw .badLink }
        return (link.0, link.1)
    }

    /// Checks the password of an operator who is signed in again.
    func confirm(_ entry: Operator, _ password: String, from request: HTTPRequest) async throws(ConsoleRefusal) {
        guard password.utf8.count <= OperatorDirectory.passwordLengths.upperBound else { throw .badCredentials }
        try confirmations.admit(entry.name)
        try await check(password, entry.passwordHash, entry.name, from: request)
        confirmations.forgive(entry.name)
    }

    /// Checks the length of a new password and hashes it.
    func hash(_ password: String) async throws(ConsoleRefusal) -> String {
        guard OperatorDirectory.passwordLengths.contains(password.utf8.count), !password.utf8.contains(0) else {
            throw .badRequest(
                "A password has \(OperatorDirectory.passwordLengths.lowerBound) to "
                    + "\(OperatorDirectory.passwordLengths.upperBound) bytes.")
        }
        guard let hash = await passwords.hash(Array(password.utf8)) else {
            throw .busy("Too many passwords are being checked; try again in a moment.")
        }
        return hash
    }

    /// Returns the session of a request's cookie with its operator; nil if there is none.
    func session(of request: HTTPRequest) async throws(ConsoleRefusal) -> (session: OperatorSession, entry: Operator)? {
        guard let token = ConsoleCookie.session.token(in: request.fields) else { return nil }
        let hash = OperatorDirectory.hash(of: token)
        let found = try await stored { () throws(StorageError) in try await store.operatorSession(tokenHash: hash) }
        return found.map { ($0.0, $0.1) }
    }

    private func check(
        _ password: String, _ hash: String?, _ name: String, from request: HTTPRequest
    ) async throws(ConsoleRefusal) {
        let result = await passwords.check(
            Array(password.utf8), against: hash, of: name.lowercased(), from: request.clientAddress)
        switch result {
        case .right: return
        case .wrong: throw .badCredentials
        case .refused(let seconds):
            throw .tooMany(retryAfter: seconds, "There were too many failed attempts; wait before the next one.")
        case .busy: throw .busy("Too many passwords are being checked; try again in a moment.")
        }
    }

    /// Makes a session that begins now and whose operator has just confirmed their identity.
    func makeSession(of name: String, from request: HTTPRequest) -> (token: String, OperatorSession) {
        let token = OperatorDirectory.makeToken()
        let now = time.now
        let agent = (request.fields["user-agent"] ?? "").unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }
        return (
            token,
            OperatorSession(
                tokenHash: OperatorDirectory.hash(of: token), operatorName: name, createdAt: now, usedAt: now,
                confirmedAt: now, address: request.clientAddress,
                agent: String(String.UnicodeScalarView(agent.prefix(200))))
        )
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(ConsoleRefusal) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw ConsoleRefusal(error)
        }
    }
}
