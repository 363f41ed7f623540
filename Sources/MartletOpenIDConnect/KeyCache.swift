import MartletModel

/// The keys of an identity provider, and the time at which they are requested again.
///
/// An attacker can send tokens that name nonexistent keys. However many such tokens arrive, the provider is asked at
/// most five times in a row, then once in 30 seconds. While the provider does not answer, its last keys remain in use
/// for a day after they have ceased to be fresh. If a recorded time is further in the future than is possible, the
/// clock was set back, and the time is ignored.
struct KeyCache: Sendable {
    enum Answer: Sendable {
        case key(JSONWebKey)
        /// The provider must be asked for its keys, or is already being asked.
        case fetch
        /// The provider has sent its keys, and the token's key is not among them.
        case unknown
        /// The provider's keys are not known, because the provider did not answer.
        case unavailable(retryAfter: Duration)
    }

    private var keys: [JSONWebKey] = []
    private var freshUntil: Timestamp?
    private var hasFailed = false
    private var isFetching = false
    /// The time until which the provider is not asked again after a failure.
    private var heldUntil: Timestamp?
    /// The time at which the leaky bucket that limits the fetches will be empty.
    private var emptyAt: Timestamp?

    /// How long keys are fresh if the provider states no time. `freshnessBounds` limits the time that the provider
    /// states.
    private static let freshness = Duration.seconds(3600)
    private static let freshnessBounds = Duration.seconds(60)...Duration.seconds(86_400)
    /// How long keys that are no longer fresh are used if no newer keys can be fetched.
    private static let staleness = Duration.seconds(86_400)
    /// The number of fetches that may follow each other without a wait, and the time after which one more is allowed.
    private static let fetchBurst = 5
    private static let fetchInterval = Duration.seconds(30)
    /// The maximum number of keys that are tried for a token that names no key.
    private static let attempts = 8
    /// The maximum number of keys with the same id that are tried.
    private static let attemptsPerID = 4
    private static let failureHold = Duration.seconds(30)

    /// Looks up the key that a token names.
    /// - Parameter mayFetch: Whether the answer may be `.fetch`, because the caller can still ask the provider.
    func answer(to token: IdentityToken, at now: Timestamp, mayFetch: Bool) -> Answer {
        let isUsable = freshUntil.map { now < $0 + Self.staleness } ?? false
        let key = isUsable ? key(of: token) : nil
        if let key, isFresh(at: now) { return .key(key) }
        let wait = wait(at: now)
        if mayFetch, isFetching || wait == .zero { return .fetch }
        if let key { return .key(key) }
        return isUsable && !hasFailed ? .unknown : .unavailable(retryAfter: wait)
    }

    /// Records that a request to the provider has started, and counts it against the limit.
    mutating func began(at now: Timestamp) {
        isFetching = true
        emptyAt =
            now + Self.rest(of: emptyAt, from: now, atMost: Self.fetchInterval * Self.fetchBurst) + Self.fetchInterval
    }

    /// Records the keys that the provider has sent.
    /// - Parameter freshness: How long the keys may be cached, according to the provider.
    mutating func fetched(_ keys: [JSONWebKey], freshness: Duration?, at now: Timestamp) {
        self.keys = keys
        let bounds = Self.freshnessBounds
        freshUntil = now + min(max(freshness ?? Self.freshness, bounds.lowerBound), bounds.upperBound)
        hasFailed = false
        heldUntil = nil
        isFetching = false
    }

    mutating func failed(at now: Timestamp) {
        // If the clock was set back, the age of the keys is not known. The keys are then used for one more day from now
        // on.
        if let end = freshUntil, end > now, !isFresh(at: now) { freshUntil = now }
        hasFailed = true
        isFetching = false
        heldUntil = now + Self.failureHold
    }

    /// Returns the key that a token names. If the token names no key, returns the key that has signed it.
    ///
    /// If no known key has signed a token without a key id, this returns nil, so that the caller asks the provider:
    /// nothing else in such a token shows that the provider has changed its keys.
    private func key(of token: IdentityToken) -> JSONWebKey? {
        let candidates = keys.lazy.filter { $0.algorithm == token.algorithm }
        guard let id = token.keyID else { return candidates.prefix(Self.attempts).first { $0.hasSigned(token) } }
        // Ids should be unique, but a provider that changes its keys may give the new key the id of the old one.
        let named = Array(candidates.filter { $0.id == id }.prefix(Self.attemptsPerID))
        return named.count > 1 ? named.first { $0.hasSigned(token) } ?? named.first : named.first
    }

    private func isFresh(at now: Timestamp) -> Bool {
        freshUntil.map { $0 > now && $0 - now <= Self.freshnessBounds.upperBound } ?? false
    }

    private func wait(at now: Timestamp) -> Duration {
        let drip = Self.rest(of: emptyAt, from: now, atMost: Self.fetchInterval * Self.fetchBurst)
        return max(
            Self.rest(of: heldUntil, from: now, atMost: Self.failureHold),
            drip - Self.fetchInterval * (Self.fetchBurst - 1), .zero)
    }

    /// Returns the time from `now` until `end`. Returns zero if this time is longer than `limit`, because then the
    /// clock was set back.
    private static func rest(of end: Timestamp?, from now: Timestamp, atMost limit: Duration) -> Duration {
        let rest = end.map { max(.zero, $0 - now) } ?? .zero
        return rest <= limit ? rest : .zero
    }
}
