import MartletHTTP
import MartletModel

/// The tokens of all lanes, and of each origin where a token is good for one alone.
///
/// Anyone who needs a token gets the one that is there. Near its end one caller has a new one fetched while all go on
/// sending with the old; without one that is still good, all wait for the same exchange.
actor AuthorizationCache {
    /// What tokens are kept by.
    struct Key: Hashable {
        var lane: LaneID
        /// nil where a token is good for all of the lane.
        var origin: HTTPOrigin?
    }

    /// What a batch is sent with.
    struct Grant: Sendable, Equatable {
        var token: String?
        /// Changes when the connections that carried an older token are not to be used any more.
        var generation: Int
    }

    enum Answer: Sendable, Equatable {
        case granted(Grant)
        /// What all pushes come to that would need a token.
        case refused(Outcome)
    }

    private struct Entry {
        let credential: Credential
        var token: AuthorizationToken?
        var generation: Int
        var exchange: Exchange?
        /// What the last exchange failed with, and until when that holds without asking again.
        var failure: (outcome: Outcome, until: Timestamp)?

        /// With a token that need not be renewed, or cannot be now.
        func grant(at now: Timestamp) -> Grant? {
            guard let token else { return nil }
            let isDue = now >= token.renewableAt + (token.expiresAt - token.renewableAt) * 5 / 6
            let mayRenew = failure.map { $0.until <= now } ?? true
            return isDue && mayRenew ? nil : grantOfOld(at: now)
        }

        /// With a token that is still good.
        func grantOfOld(at now: Timestamp) -> Grant? {
            guard let token, now < token.expiresAt else { return nil }
            return Grant(token: token.value, generation: generation)
        }
    }

    private struct Exchange {
        let number: Int
        /// Ends once what it came to has been noted.
        let result: Task<Answer, Never>
    }

    /// Strangers choose origins: more than these are not remembered.
    private static let originLimit = 4096
    /// How long a refused credential is not tried again, by however many pages that wait for it.
    private static let refusalHold: Duration = .seconds(10)

    private let transport: any HTTPTransport
    private let timeout: Duration
    private let time: any TimeSource
    private let metrics: DeliveryMetrics
    private var entries: [Key: Entry] = [:]
    private var exchanges = 0
    private var clock = ClockWatch()

    /// - Parameters:
    ///   - transport: What tokens are asked for with.
    ///   - timeout: How long an answer is waited for.
    ///   - metrics: Told of every token.
    init(
        transport: any HTTPTransport, timeout: Duration, time: any TimeSource,
        metrics: DeliveryMetrics = DeliveryMetrics()
    ) {
        self.metrics = metrics
        self.transport = transport
        self.timeout = timeout
        self.time = time
    }

    /// The hub is gone, and its tokens with it.
    func forget(_ hub: Hub.ID) {
        entries = entries.filter { $0.key.lane.hub != hub }
    }

    /// The token to send with now.
    func grant(for key: Key, credential: Credential, service: any PushService) async -> Answer {
        let now = time.now
        if clock.setBack(at: now) != nil { forgetTokens() }
        var entry = entry(key, credential)
        if let grant = entry.grant(at: now) { return .granted(grant) }
        if let failure = entry.failure, failure.until > now {
            var outcome = failure.outcome
            // Of a wait that the service asked for, what is left of it.
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
                    // A connection carries one of these for all its life: APNs counts those that it sees on each.
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

    /// Records that the service refused a token: the next grant has a new one and asks for new connections. What somebody
    /// else has renewed meanwhile stays.
    func discard(_ refused: Grant, for key: Key) {
        guard var entry = entries[key], entry.generation == refused.generation else { return }
        if entry.token?.value == refused.token { entry.token = nil }
        entry.generation += 1
        entries[key] = entry
    }

    /// The clock was set back: what says when it was signed says a time that is to come, and ends are too far ahead.
    private func forgetTokens() {
        for key in entries.keys {
            entries[key]?.token = nil
            entries[key]?.failure = nil
            entries[key]?.generation += 1
        }
    }

    /// Waits until no token is being asked for.
    func finishExchange(for key: Key) async { _ = await entries[key]?.exchange?.result.value }

    private func entry(_ key: Key, _ credential: Credential) -> Entry {
        let known = entries[key]
        if let known, known.credential == credential { return known }
        return Entry(credential: credential, generation: (known?.generation ?? -1) + 1)
    }

    private func keep(_ entry: Entry, _ key: Key) {
        if key.origin != nil, entries[key] == nil, entries.count >= Self.originLimit {
            entries = entries.filter { $0.key.origin == nil }
        }
        entries[key] = entry
    }

    // MARK: Exchanges

    /// Asks for a token. Not on behalf of one caller, who may be cancelled while others wait.
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
        // Where the credential has changed meanwhile, only those want it who have waited for it.
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
