public import MartletCore
public import MartletHTTP
import MartletModel
import Synchronization

/// An OpenID Connect provider: an external service that authenticates users and issues tokens to them.
public final class IdentityProvider: Sendable {
    private let rules: TokenRules
    private let documents: ProviderDocuments
    private let time: any TimeSource
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    private struct State {
        var cache = KeyCache()
        /// The request for keys that is in progress.
        var fetch: Task<Void, Never>?
        /// The last request for the configuration, and until when its result is used.
        var configuration: (task: Task<ProviderConfiguration?, Never>, until: Timestamp)?
    }

    /// How long the provider's configuration is used, and how long it is not asked for again after a failure.
    private static let configurationLifetime = Duration.seconds(3600)
    private static let configurationHold = Duration.seconds(5)

    /// Creates a provider. The first request is sent only when the first token arrives.
    /// - Parameters:
    ///   - transport: The transport for requests to the provider.
    ///   - log: Receives a message for the operator if the provider does not answer correctly.
    public init(
        _ settings: OpenIDConnectSettings, transport: any HTTPTransport, time: any TimeSource,
        log: @escaping @Sendable (String) -> Void
    ) {
        rules = TokenRules(settings: settings)
        documents = ProviderDocuments(settings: settings, transport: transport)
        self.time = time
        self.log = log
    }

    public var issuer: String { rules.settings.issuer }

    /// Verifies a token and returns its claims.
    public func claims(of text: String) async throws(IdentityProviderError) -> IdentityClaims {
        let token = try judged { () throws(TokenRefusal) in
            let token = try IdentityToken(text)
            try rules.checkIssuer(of: token)
            return token
        }
        switch await key(of: token) {
        case .key(let key):
            return try judged { () throws(TokenRefusal) in
                try rules.claims(of: token, signedWith: key, at: time.now)
            }
        case .unknown: throw .refused(.unknownKey)
        case .unavailable(let wait): throw .unavailable(retryAfter: wait.components.seconds + 1)
        case .fetch: throw .unavailable(retryAfter: 1)
        }
    }

    private func judged<Value>(_ work: () throws(TokenRefusal) -> Value) throws(IdentityProviderError) -> Value {
        do throws(TokenRefusal) {
            return try work()
        } catch {
            throw .refused(error)
        }
    }

    // MARK: Signing in

    /// Returns what the provider publishes about signing in. It is asked once an hour, and after a failure once in five
    /// seconds, however many callers there are.
    public func configuration() async throws(IdentityProviderError) -> ProviderConfiguration {
        let task = state.withLock { state in
            if let known = state.configuration, time.now < known.until { return known.task }
            let task = Task { await self.fetchConfiguration() }
            // Until the request has ended, all callers wait for it.
            state.configuration = (task, time.now + Self.configurationLifetime)
            return task
        }
        guard let configuration = await task.value else {
            throw .unavailable(retryAfter: Self.configurationHold.components.seconds)
        }
        return configuration
    }

    private func fetchConfiguration() async -> ProviderConfiguration? {
        do throws(ProviderDocuments.Failure) {
            return try await documents.configuration()
        } catch {
            state.withLock { $0.configuration?.until = time.now + Self.configurationHold }
            log("The identity provider \(issuer) cannot be used for signing in. \(error.sentence)")
            return nil
        }
    }

    /// Exchanges a code for an ID token and verifies it.
    public func claims(
        for grant: CodeGrant, client: ProviderClient
    ) async throws(IdentityProviderError) -> IdentityClaims {
        let configuration = try await configuration()
        let token: String?
        do throws(ProviderDocuments.Failure) {
            token = try await documents.idToken(for: grant, client: client, configuration)
        } catch {
            log("The identity provider \(issuer) gave no token. \(error.sentence)")
            throw error.isRefusal ? .noToken : .unavailable(retryAfter: 1)
        }
        guard let token else { throw .badCode }
        return try await claims(of: token)
    }

    // MARK: Keys

    private func key(of token: IdentityToken) async -> KeyCache.Answer {
        let (answer, fetch) = state.withLock { state -> (KeyCache.Answer, Task<Void, Never>?) in
            let answer = state.cache.answer(to: token, at: time.now, mayFetch: true)
            guard case .fetch = answer else { return (answer, nil) }
            return (answer, state.fetch ?? startFetch(&state))
        }
        guard let fetch else { return answer }
        await fetch.value
        return state.withLock { $0.cache.answer(to: token, at: time.now, mayFetch: false) }
    }

    /// Starts the request for keys in a task of its own, because the first caller may be cancelled while others still
    /// wait for the keys.
    private func startFetch(_ state: inout State) -> Task<Void, Never> {
        state.cache.began(at: time.now)
        let fetch = Task { await self.fetch() }
        state.fetch = fetch
        return fetch
    }

    private func fetch() async {
        do throws(ProviderDocuments.Failure) {
            let (keys, freshness) = try await documents.keys()
            state.withLock { state in
                state.cache.fetched(keys, freshness: freshness, at: time.now)
                state.fetch = nil
            }
        } catch {
            state.withLock { state in
                state.cache.failed(at: time.now)
                state.fetch = nil
            }
            log("The identity provider \(issuer) gave no keys. \(error.sentence)")
        }
    }
}
