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

    /// Returns the user to whom a token belongs.
    func caller(showing text: String) async throws(BackendError) -> Caller {
        let token = try judged { () throws(TokenRefusal) in
            let token = try IdentityToken(text)
            try rules.checkIssuer(of: token)
            return token
        }
        switch await key(of: token) {
        case .key(let key):
            return try judged { () throws(TokenRefusal) in
                try rules.caller(of: token, signedWith: key, at: time.now)
            }
        case .unknown: throw BackendError(.unknownKey)
        case .unavailable(let wait): throw .noIdentityProvider(retryAfter: wait.components.seconds + 1)
        case .fetch: throw .noIdentityProvider(retryAfter: 1)
        }
    }

    private func judged<Value>(_ work: () throws(TokenRefusal) -> Value) throws(BackendError) -> Value {
        do throws(TokenRefusal) {
            return try work()
        } catch {
            throw BackendError(error)
        }
    }

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
            log("The identity provider \(rules.settings.issuer) gave no keys. \(error.sentence)")
        }
    }
}
