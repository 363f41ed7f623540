import MartletModel

/// The keys of an identity provider, and when it is to be asked for them again.
///
/// Anybody may show tokens that name keys nobody has. So it is asked seldom, however many come: a few times in a row,
/// then once in a while. While it does not answer, its last keys go on for a day.
struct KeyCache: Sendable {
    enum Answer: Sendable {
        case key(JSONWebKey)
        /// The provider must be asked, or is being asked.
        case fetch
        /// The provider has no such key.
        case unknown
        /// What keys the provider has is not known.
        case unavailable(retryAfter: Duration)
    }

    private var keys: [JSONWebKey] = []
    private var freshUntil: Timestamp?
    private var hasFailed = false
    private var isFetching = false
    /// After a failure the provider is left in peace until then.
    private var heldUntil: Timestamp?
    /// The time at which the bucket of fetches will have leaked out.
    private var emptyAt: Timestamp?

    /// For how long keys are good where the provider does not say, and the bounds of what it may say.
    private static let freshness = Duration.seconds(3600)
    private static let freshnessBounds = Duration.seconds(60)...Duration.seconds(86_400)
    /// For how long keys that are not fresh any more are used while there are no others.
    private static let staleness = Duration.seconds(86_400)
    private static let fetches = BucketSize(drops: 5, interval: .seconds(30))
    /// How many keys are tried on a token that names none.
    private static let attempts = 8
    private static let failureHold = Duration.seconds(30)

    /// The key that a token names.
    /// - Parameter mayFetch: Whether the caller could still ask the provider.
    func answer(to token: IdentityToken, at now: Timestamp, mayFetch: Bool) -> Answer {
        let isUsable = freshUntil.map { now < $0 + Self.staleness } ?? false
        let key = isUsable ? key(of: token) : nil
        if let key, freshUntil.map({ now < $0 }) ?? false { return .key(key) }
        let wait = wait(at: now)
        if mayFetch, isFetching || wait == .zero { return .fetch }
        if let key { return .key(key) }
        return isUsable && !hasFailed ? .unknown : .unavailable(retryAfter: wait)
    }

    /// The provider is being asked from now on.
    mutating func began(at now: Timestamp) {
        isFetching = true
        emptyAt = max(emptyAt ?? now, now) + Self.fetches.interval
    }

    /// - Parameter freshness: What the provider says of how long its keys may be kept.
    mutating func fetched(_ keys: [JSONWebKey], freshness: Duration?, at now: Timestamp) {
        self.keys = keys
        let bounds = Self.freshnessBounds
        freshUntil = now + min(max(freshness ?? Self.freshness, bounds.lowerBound), bounds.upperBound)
        hasFailed = false
        heldUntil = nil
        isFetching = false
    }

    mutating func failed(at now: Timestamp) {
        hasFailed = true
        isFetching = false
        heldUntil = now + Self.failureHold
    }

    /// A token that names no key is of the key that has signed it: by that alone a provider without ids is seen to have
    /// changed its keys.
    private func key(of token: IdentityToken) -> JSONWebKey? {
        let candidates = keys.lazy.filter { $0.algorithm == token.algorithm }
        guard let id = token.keyID else { return candidates.prefix(Self.attempts).first { $0.hasSigned(token) } }
        return candidates.first { $0.id == id }
    }

    private func wait(at now: Timestamp) -> Duration {
        let hold = heldUntil.map { max(.zero, $0 - now) } ?? .zero
        let drip = emptyAt.map { max(.zero, ($0 - now) - Self.fetches.interval * (Self.fetches.drops - 1)) } ?? .zero
        return max(hold, drip)
    }
}
