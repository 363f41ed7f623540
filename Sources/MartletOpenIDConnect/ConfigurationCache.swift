import MartletModel

/// The configuration of an identity provider, and the time at which it is requested again.
///
/// A configuration is fresh for an hour. While the provider does not answer, its last configuration remains in use for
/// one more day, and the provider is asked again once a minute. If there is no configuration to use, the provider is
/// asked again after five seconds.
struct ConfigurationCache: Sendable {
    enum Answer: Sendable {
        case configuration(ProviderConfiguration)
        /// The provider must be asked for its configuration, or is already being asked.
        case fetch
        /// The configuration is not known, because the provider did not answer.
        case unavailable(retryAfter: Duration)
    }

    private var last: (configuration: ProviderConfiguration, fetchedAt: Timestamp)?
    private var failedAt: Timestamp?
    private var isFetching = false

    private static let freshness = Duration.seconds(3600)
    private static let staleness = Duration.seconds(86_400)
    /// The periods after a failure during which the provider is not asked again: `hold` if there is no configuration to
    /// use, `staleHold` if there is one.
    private static let hold = Duration.seconds(5)
    private static let staleHold = Duration.seconds(60)

    /// Returns the configuration, or what the caller must do to get it.
    ///
    /// If a recorded time is in the future, the clock was set back, and the provider is asked again.
    /// - Parameter mayFetch: Whether the answer may be `.fetch`, because the caller can still ask the provider.
    func answer(at now: Timestamp, mayFetch: Bool) -> Answer {
        let known = last.flatMap { now - $0.fetchedAt < Self.freshness + Self.staleness ? $0 : nil }
        if let known, (.zero..<Self.freshness).contains(now - known.fetchedAt) {
            return .configuration(known.configuration)
        }
        let hold = known == nil ? Self.hold : Self.staleHold
        let isHeld = failedAt.map { (.zero..<hold).contains(now - $0) } ?? false
        if mayFetch, isFetching || !isHeld { return .fetch }
        if let known { return .configuration(known.configuration) }
        return .unavailable(retryAfter: hold)
    }

    /// Records that a request to the provider has started.
    mutating func began() {
        isFetching = true
    }

    mutating func fetched(_ configuration: ProviderConfiguration, at now: Timestamp) {
        last = (configuration, now)
        failedAt = nil
        isFetching = false
    }

    /// Records that the provider has not answered.
    /// - Returns: Whether its last configuration remains in use.
    mutating func failed(at now: Timestamp) -> Bool {
        // If the clock was set back, the age of the configuration is not known. The configuration is then used for one
        // more day from now on.
        if let fetchedAt = last?.fetchedAt, fetchedAt > now { last?.fetchedAt = now + (.zero - Self.freshness) }
        failedAt = now
        isFetching = false
        guard case .configuration = answer(at: now, mayFetch: false) else { return false }
        return true
    }
}
