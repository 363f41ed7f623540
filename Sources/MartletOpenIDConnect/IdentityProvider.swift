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
        var configuration = ConfigurationCache()
        /// The request for the configuration that is in progress.
        var configurationFetch: Task<Void, Never>?
    }

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

    /// Returns the provider's configuration, at most an hour old. While the provider does not answer, its last
    /// configuration is used for one more day. If several callers wait, the provider is asked only once.
    public func configuration() async throws(IdentityProviderError) -> ProviderConfiguration {
        let (known, fetch) = state.withLock { state -> (ConfigurationCache.Answer, Task<Void, Never>?) in
            let answer = state.configuration.answer(at: time.now, mayFetch: true)
            guard case .fetch = answer else { return (answer, nil) }
            return (answer, state.configurationFetch ?? startConfigurationFetch(&state))
        }
        var answer = known
        if let fetch {
            await fetch.value
            answer = state.withLock { $0.configuration.answer(at: time.now, mayFetch: false) }
        }
        switch answer {
        case .configuration(let configuration): return configuration
        case .unavailable(let wait): throw .unavailable(retryAfter: wait.components.seconds)
        case .fetch: throw .unavailable(retryAfter: 1)
        }
    }

    /// Starts the request for the configuration in a task of its own, as `startFetch` does for keys.
    private func startConfigurationFetch(_ state: inout State) -> Task<Void, Never> {
        state.configuration.began()
        let fetch = Task { await self.fetchConfiguration() }
        state.configurationFetch = fetch
        return fetch
    }

    private func fetchConfiguration() async {
        do throws(ProviderDocuments.Failure) {
            let configuration = try await documents.configuration()
            state.withLock { state in
                state.configuration.fetched(configuration, at: time.now)
                state.configurationFetch = nil
            }
        } catch {
            let goesOn = state.withLock { state in
                state.configurationFetch = nil
                return state.configuration.failed(at: time.now)
            }
            log(
                goesOn
                    ? "The identity provider \(issuer) gave no configuration; its last one is used. \(error.sentence)"
                    : "The identity provider \(issuer) cannot be used for signing in. \(error.sentence)")
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
