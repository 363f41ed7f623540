public import MartletCore
public import MartletHTTP
import MartletModel
import Synchronization

/// Somebody else who knows the users and gives them tokens: an OpenID Connect provider.
public final class IdentityProvider: Sendable {
    private let rules: TokenRules
    private let documents: ProviderDocuments
    private let time: any TimeSource
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    private struct State {
        var cache = KeyCache()
        /// The request for keys that is under way.
        var fetch: Task<Void, Never>?
    }

    /// Asks nothing yet: that waits for the first token.
    /// - Parameters:
    ///   - transport: What the provider is asked over.
    ///   - log: Takes a sentence for the operator where the provider does not answer as it should.
    public init(
        _ settings: OpenIDConnectSettings, transport: any HTTPTransport, time: any TimeSource,
        log: @escaping @Sendable (String) -> Void
    ) {
        rules = TokenRules(settings: settings)
        documents = ProviderDocuments(settings: settings, transport: transport)
        self.time = time
        self.log = log
    }

    /// Who shows a token.
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

    /// Not on behalf of one caller, who may be cancelled while others wait.
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
