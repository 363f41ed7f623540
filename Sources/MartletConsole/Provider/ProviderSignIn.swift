import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletOpenIDConnect
import Synchronization

/// Signs operators in with an identity provider, by the authorization code flow with PKCE (RFC 6749, RFC 7636, RFC
/// 9700).
final class ProviderSignIn: Sendable {
    private let provider: ConsoleProvider
    private let signIn: SignIn
    /// Logs why ID tokens are refused, without content of the tokens.
    private let log: @Sendable (String) -> Void
    private let used = UsedStates()
    /// The number of codes that are being exchanged for tokens now.
    private let exchanges = Mutex(0)

    /// The path of the page to which the provider sends the browser back. The page's script sends the code to the
    /// console's API, because a request from the console's own page carries the cookies.
    private static let page = "/console/enter"
    /// The maximum number of codes that are exchanged at the same time. Each exchange takes up to 10 seconds, and
    /// anybody can cause an exchange.
    static let exchangeLimit = 32

    init(provider: ConsoleProvider, signIn: SignIn, log: @escaping @Sendable (String) -> Void) {
        self.provider = provider
        self.signIn = signIn
        self.log = log
    }

    /// The name of the provider; nil if there is none.
    var name: String? { provider.settings?.name }

    /// Returns the name of the provider with which an operator signs in; nil for an operator who signs in with a
    /// password.
    func name(for entry: Operator) -> String? {
        guard let identity = entry.identity else { return nil }
        if let settings = provider.settings, settings.provider.issuer == identity.issuer { return settings.name }
        return HTTPOrigin.splitting(identity.issuer)?.origin.host ?? identity.issuer
    }

    // MARK: Going to the provider

    /// Begins a sign-in.
    /// - Parameters:
    ///   - isFresh: Whether the provider must authenticate the person again, even if the person is still signed in
    ///     there.
    /// - Returns: The address to which the browser goes, and the token of its cookie.
    func begin(
        isFresh: Bool, from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> (location: String, token: String) {
        let settings = try settings()
        let transaction = try Self.transaction(OperatorDirectory.makeToken())
        let configuration = try await configuration(settings)
        var parameters = [
            (name: "response_type", value: "code"), (name: "client_id", value: settings.client.id),
            (name: "redirect_uri", value: try Self.redirectURI(request)), (name: "scope", value: settings.scopes),
            (name: "state", value: transaction.state), (name: "nonce", value: transaction.nonce),
            (name: "code_challenge", value: transaction.challenge), (name: "code_challenge_method", value: "S256"),
        ]
        // With `max_age`, the provider must state when it authenticated the person. Without this time, a person could
        // remove `prompt` from the address and would still count as freshly authenticated.
        if isFresh { parameters += [("prompt", "login"), ("max_age", "0")] }
        return (configuration.authorizationURL(parameters), transaction.token)
    }

    /// Returns the address of the console's page, with the origin by which the browser addresses the server. The gate
    /// has checked that `Origin` is this server's.
    private static func redirectURI(_ request: HTTPRequest) throws(ConsoleRefusal) -> String {
        guard let origin = request.fields["origin"].flatMap({ HTTPOrigin($0) }) else { throw .crossSite }
        return origin.description + page
    }

    private static func transaction(_ token: String) throws(ConsoleRefusal) -> ProviderTransaction {
        do throws(CryptoError) {
            return try ProviderTransaction(token: token)
        } catch {
            throw .busy("The sign-in could not be prepared; try again.")
        }
    }

    private func settings() throws(ConsoleRefusal) -> ConsoleProvider.Settings {
        guard let settings = provider.settings else { throw .notFound }
        return settings
    }

    private func configuration(
        _ settings: ConsoleProvider.Settings
    ) async throws(ConsoleRefusal) -> ProviderConfiguration {
        do throws(IdentityProviderError) {
            return try await settings.provider.configuration()
        } catch {
            throw .noProvider(settings.name)
        }
    }

    // MARK: Coming back

    /// The provider's answer to a sign-in, which the browser passes on.
    struct Answer: Sendable {
        var state: String
        /// The authorization code; nil if the provider did not let the person in.
        var code: String?
        /// The issuer that the answer names (RFC 9207); nil if it names none.
        var issuer: String?
    }

    /// Returns the sign-in that the browser has begun, from the token in its cookie.
    /// - Throws: `ConsoleRefusal.badSignIn` if this browser has not begun the sign-in to which the answer belongs.
    func transaction(
        of answer: Answer, from request: HTTPRequest
    ) throws(ConsoleRefusal) -> ProviderTransaction {
        _ = try settings()
        guard let token = ConsoleCookie.signIn.token(in: request.fields) else { throw .badSignIn }
        let transaction = try Self.transaction(token)
        guard ConstantTime.areEqual(answer.state, transaction.state) else { throw .badSignIn }
        return transaction
    }

    /// Finishes a sign-in.
    ///
    /// If the browser already has a session of the same operator, that session is confirmed and continues; otherwise a
    /// new session begins.
    /// - Returns: The session with its operator. `token` is the token of a new session; nil if the old session
    ///   continues.
    func finish(
        _ transaction: ProviderTransaction, _ answer: Answer, from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> (token: String?, session: OperatorSession, entry: Operator) {
        let settings = try settings()
        try await checkIssuer(of: answer, settings)
        guard let code = answer.code else { throw .providerRefused }
        let grant = CodeGrant(
            code: code, verifier: transaction.verifier, redirectURI: try Self.redirectURI(request))
        let claims = try await exchange(grant, settings, from: request)
        return try await enter(claims, transaction, settings, from: request)
    }

    /// Refuses an answer that comes from another provider. An attacker may have led the person to that provider (RFC
    /// 9207).
    private func checkIssuer(
        of answer: Answer, _ settings: ConsoleProvider.Settings
    ) async throws(ConsoleRefusal) {
        if let issuer = answer.issuer {
            guard issuer == settings.provider.issuer else { throw .badSignIn }
        } else if try await configuration(settings).namesIssuer {
            throw .badSignIn
        }
    }

    /// Exchanges a code at the provider, within the limit on failed sign-ins of the client's network and the limit on
    /// exchanges.
    ///
    /// Every code that the provider refuses counts as a failed sign-in, because anybody can send codes. If the provider
    /// cannot be reached, the attempt does not count.
    private func exchange(
        _ grant: CodeGrant, _ settings: ConsoleProvider.Settings, from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> IdentityClaims {
        let isAdmitted = exchanges.withLock { count in
            guard count < Self.exchangeLimit else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw .busy("Too many people are signing in; try again in a moment.") }
        defer { exchanges.withLock { $0 -= 1 } }
        var result = Result<IdentityClaims, ConsoleRefusal>.failure(.badSignIn)
        // The owner of the code is unknown before the exchange, so failures are counted by address, under a name that
        // contains a space. No operator's name contains one.
        let wait = await signIn.passwords.limit("provider \(request.clientAddress)", from: request.clientAddress) {
            do throws(IdentityProviderError) {
                result = .success(try await settings.provider.claims(for: grant, client: settings.client))
                return .succeeded
            } catch {
                switch error {
                case .unavailable:
                    result = .failure(.noProvider(settings.name))
                    return .withdrawn
                case .noToken: result = .failure(.noProvider(settings.name))
                case .badCode: result = .failure(.badSignIn)
                case .refused(let refusal):
                    log("The ID token of a sign-in to the console was refused. \(refusal.sentence)")
                    result = .failure(.badSignIn)
                }
                return .failed
            }
        }
        if let wait {
            throw .tooMany(retryAfter: wait, "There were too many failed attempts; wait before the next one.")
        }
        return try result.get()
    }

    private func enter(
        _ claims: IdentityClaims, _ transaction: ProviderTransaction, _ settings: ConsoleProvider.Settings,
        from request: HTTPRequest
    ) async throws(ConsoleRefusal) -> (token: String?, session: OperatorSession, entry: Operator) {
        let isParty = claims.party.map { $0 == .string(settings.client.id) } ?? true
        guard claims.hasNonce(transaction.nonce), isParty, let subject = claims.subject else {
            log("The ID token of a sign-in to the console was refused. It is of another sign-in, or names no user.")
            throw .badSignIn
        }
        guard used.use(transaction.state) else { throw .badSignIn }
        let identity = OperatorIdentity(issuer: settings.provider.issuer, subject: subject)
        let visit = ProviderVisit(
            identity: identity, names: ProviderNames.names(for: identity, claims),
            roles: settings.roles.grants(for: claims.roles), countLimit: OperatorDirectory.countLimit)
        let old = try await signIn.session(of: request).flatMap { found in
            found.session.isValid(at: signIn.time.now) && found.entry.identity == identity ? found.session : nil
        }
        var (token, session) = signIn.makeSession(of: "", from: request)
        session.confirmedAt = Self.confirmation(claims, at: signIn.time.now)
        return try await store(visit, token, session, old)
    }

    /// Returns the time at which the provider authenticated the person. If the provider states no time, or one in the
    /// future, the result is the beginning of 1970, so that the session counts as not freshly confirmed.
    private static func confirmation(_ claims: IdentityClaims, at now: Timestamp) -> Timestamp {
        guard let time = claims.authenticatedAt, time <= now + .seconds(60) else { return Timestamp(milliseconds: 0) }
        return min(time, now)
    }

    private func store(
        _ visit: ProviderVisit, _ token: String, _ session: OperatorSession, _ old: OperatorSession?
    ) async throws(ConsoleRefusal) -> (token: String?, session: OperatorSession, entry: Operator) {
        let result: ProviderVisitResult
        do throws(StorageError) {
            result = try await signIn.directory.store.enter(visit, adding: session, orConfirming: old?.tokenHash)
        } catch {
            throw ConsoleRefusal(error)
        }
        switch result {
        case .entered(let entry, let opened):
            signIn.directory.changed(entry.name)
            return (opened.tokenHash == session.tokenHash ? token : nil, opened, entry)
        case .noRole(let name):
            if let name { signIn.directory.changed(name) }
            throw .noRole(name)
        case .disabled(let name): throw .disabled(name)
        case .tooMany: throw .busy("There are too many operators: none can be added.")
        }
    }
}
