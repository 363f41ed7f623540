import MartletHTTP
import MartletModel

/// The authorization tokens of all lanes. If a token is valid at one origin only, the lane has a separate token for
/// each origin.
///
/// Every caller gets the current token. Some time before the token expires, the cache starts one request for a new
/// token (an exchange). Until the exchange finishes, all callers still get the old token. If no token is valid, all
/// callers wait for the same exchange.
actor AuthorizationCache {
    /// Identifies a token by its lane and, if the token is valid at one origin only, by that origin.
    struct Key: Hashable {
        var lane: LaneID
        /// The only origin at which the token is valid; nil if the token is valid for the whole lane.
        var origin: HTTPOrigin?
    }

    /// The token with which a batch is sent; its value is nil if the service needs no token.
    struct Grant: Sendable, Equatable {
        var token: String?
        /// A number that changes when connections that carried an older token must not be used any more.
        var generation: Int
    }

    enum Answer: Sendable, Equatable {
        case granted(Grant)
        /// No token is available. Every push that needs a token gets this outcome.
        case refused(Outcome)
    }

    private struct Entry {
        let credential: Credential
        var token: AuthorizationToken?
        var generation: Int
        var exchange: Exchange?
        /// The outcome of the last token request if that request failed, and the time before which no further request
        /// is started because of the failure.
        var failure: (outcome: Outcome, until: Timestamp)?

        /// Returns the current token as a grant; nil if the token has expired, or if it is due for renewal and no
        /// failed token request delays the renewal.
        func grant(at now: Timestamp) -> Grant? {
            guard let token else { return nil }
            let isDue = now >= token.renewableAt + (token.expiresAt - token.renewableAt) * 5 / 6
            let mayRenew = failure.map { $0.until <= now } ?? true
            return isDue && mayRenew ? nil : grantOfOld(at: now)
        }

        /// Returns the current token as a grant, even if the token is due for renewal; nil if it has expired.
        func grantOfOld(at now: Timestamp) -> Grant? {
            guard let token, now < token.expiresAt else { return nil }
            return Grant(token: token.value, generation: generation)
        }
    }

    private struct Exchange {
        let number: Int
        /// The task of the token request. It ends once `record` has stored the answer.
        let result: Task<Answer, Never>
    }

    /// The maximum number of origins with their own token. Devices choose origins, so the number must be bounded.
    private static let originLimit = 4096
    /// How long no further token is requested after a credential was refused, even if many pages wait for a token.
    private static let refusalHold: Duration = .seconds(10)

    private let transport: any HTTPTransport
    private let timeout: Duration
    private let time: any TimeSource
    private let metrics: DeliveryMetrics
    private var entries: [Key: Entry] = [:]
    private var exchanges = 0
    private var clock = ClockWatch()

    /// - Parameters:
    ///   - transport: Sends the token requests.
    ///   - timeout: The maximum wait for the answer to a token request.
    ///   - metrics: Counts every renewal of a token.
    init(
        transport: any HTTPTransport, timeout: Duration, time: any TimeSource,
        metrics: DeliveryMetrics = DeliveryMetrics()
    ) {
        self.metrics = metrics
        self.transport = transport
        self.timeout = timeout
        self.time = time
    }

    /// Removes the tokens of a hub that was deleted.
    func forget(_ hub: Hub.ID) {
        entries = entries.filter { $0.key.lane.hub != hub }
    }

    /// Returns the token to send with now. If there is no token, returns the outcome that the pushes get.
    func grant(for key: Key, credential: Credential, service: any PushService) async -> Answer {
        let now = time.now
        if clock.setBack(at: now) != nil { forgetTokens() }
        var entry = entry(key, credential)
        if let grant = entry.grant(at: now) { return .granted(grant) }
        if let failure = entry.failure, failure.until > now {
            var outcome = failure.outcome
            // The wait began at the time of the failure, so the pushes wait only for the rest of that wait.
            if case .retry(_, let scope) = outcome.reaction {
                outcome.reaction = .retry(after: failure.until - now, scope: scope)
            }
            return .refused(outcome)
        }
        if entry.exchange == nil {
            do throws(PushServiceError) {
                let authorization = try service.authorization(at: now)
                switch authorization {
                case .none: entry.token = nil
                case .token(let token):
                    // Connections that carried the old token are not used with the new one, because APNs counts the
                    // tokens that it sees on each connection.
                    if entry.token != nil { entry.generation += 1 }
                    entry.token = token
                    metrics.addRenewal(on: key.lane.platform, succeeded: true)
                case .exchange(let exchange):
                    entry.exchange = start(exchange, key, service, generation: entry.generation)
                }
            } catch {
                metrics.addRenewal(on: key.lane.platform, succeeded: false)
                return .refused(PageSender.outcome(of: error))
            }
            keep(entry, key)
        }
        guard let exchange = entry.exchange else {
            return .granted(Grant(token: entry.token?.value, generation: entry.generation))
        }
        if let grant = entry.grantOfOld(at: now) { return .granted(grant) }
        return await exchange.result.value
    }

    /// Records that the service refused a token, so that the next grant has another token and needs new connections. If
    /// the token was renewed in the meantime, the new token is kept. Does nothing if the generation has changed in the
    /// meantime.
    func discard(_ refused: Grant, for key: Key) {
        guard var entry = entries[key], entry.generation == refused.generation else { return }
        if entry.token?.value == refused.token { entry.token = nil }
        entry.generation += 1
        entries[key] = entry
    }

    /// Removes all tokens and failures. Called when the clock was set back. The signing time of a token would then lie
    /// in the future, and the expiry of a token or the end of a failure's wait would be too far in the future.
    private func forgetTokens() {
        for key in entries.keys {
            entries[key]?.token = nil
            entries[key]?.failure = nil
            entries[key]?.generation += 1
        }
    }

    /// Waits until no token request for a key is under way.
    func finishExchange(for key: Key) async { _ = await entries[key]?.exchange?.result.value }

    private func entry(_ key: Key, _ credential: Credential) -> Entry {
        let known = entries[key]
        if let known, known.credential == credential { return known }
        return Entry(credential: credential, generation: (known?.generation ?? -1) + 1)
    }

    private func keep(_ entry: Entry, _ key: Key) {
        if key.origin != nil, entries[key] == nil, entries.keys.count(where: { $0.origin != nil }) >= Self.originLimit {
            entries = entries.filter { $0.key.origin == nil }
        }
        entries[key] = entry
    }

    // MARK: Exchanges

    /// Starts a token request in a task of its own, so that the request continues if the caller is cancelled: other
    /// callers may wait for the same token.
    private func start(
        _ exchange: TokenExchange, _ key: Key, _ service: any PushService, generation: Int
    ) -> Exchange {
        exchanges += 1
        let number = exchanges
        return Exchange(
            number: number,
            result: Task { self.record(await self.answer(to: exchange, service), of: number, key, generation) })
    }

    private func answer(to exchange: TokenExchange, _ service: any PushService) async -> TokenAnswer {
        do throws(TransportError) {
            let response = try await transport.send(
                exchange.request, to: exchange.origin, settings: exchange.settings, before: .now + timeout)
            return service.token(from: response, at: time.now)
        } catch {
            return .refused(
                Outcome(
                    .tokenProviderUnreachable, reason: error.reason(at: exchange.settings.addresses),
                    .retry(after: .seconds(1), scope: .platform)))
        }
    }

    private func record(_ answer: TokenAnswer, of number: Int, _ key: Key, _ generation: Int) -> Answer {
        // False if the credential has changed or the hub was deleted during the request. Then the token is not kept,
        // and only the callers that waited for this request get it.
        let isWanted = entries[key]?.exchange?.number == number
        if isWanted { entries[key]?.exchange = nil }
        switch answer {
        case .token(let token):
            metrics.addRenewal(on: key.lane.platform, succeeded: true)
            if isWanted {
                entries[key]?.token = token
                entries[key]?.failure = nil
            }
            let current = isWanted ? entries[key]?.generation : nil
            return .granted(Grant(token: token.value, generation: current ?? generation))
        case .refused(let outcome):
            metrics.addRenewal(on: key.lane.platform, succeeded: false)
            let hold = if case .retry(let wait, _) = outcome.reaction { wait } else { Self.refusalHold }
            if isWanted { entries[key]?.failure = (outcome, time.now + hold) }
            return .refused(outcome)
        }
    }
}
