import MartletCrypto
import MartletModel

/// Decides which passwords are worth checking, so that nobody can guess them by trying.
///
/// Whether an attempt is refused depends only on what failed **from the same network**: strangers elsewhere can slow
/// nobody down. There are three counts of failures:
/// - per user and network: few. A network from which the user has logged in before is *known* and gets more.
/// - per network, over all users: more, so that a network cannot go through the list of users. Known users of the
///   network are exempt: a neighbour behind the same address cannot shut them out.
/// - per user, over all networks that are not known: while it is exceeded, somebody guesses from many places, and each
///   new network has a single attempt, then waits long.
///
/// Sessions and passwords that were checked a moment ago never come here. An attempt is counted when it is admitted, and
/// forgiven when it succeeds, so that many at the same time are no way around.
struct LoginLimiter: Sendable {
    struct Settings: Hashable, Sendable {
        var user = BucketSize(drops: 5, interval: .seconds(30))
        var knownUser = BucketSize(drops: 20, interval: .seconds(10))
        var suspectUser = BucketSize(drops: 1, interval: .seconds(600))
        var network = BucketSize(drops: 30, interval: .seconds(10))
        var everywhere = BucketSize(drops: 50, interval: .seconds(60))
        /// How many keys of each kind are remembered.
        var countLimit = 10_000
    }

    enum Decision: Hashable, Sendable {
        case admitted(Attempt)
        case refused(retryAfter: Duration)
    }

    /// An attempt and what was counted for it: exactly that is taken back, also where the network became known meanwhile.
    struct Attempt: Hashable, Sendable {
        fileprivate let pair: Pair
        fileprivate let size: BucketSize
        fileprivate let wasKnown: Bool
    }

    fileprivate struct Pair: Hashable, Sendable {
        let user: String
        let network: String
    }

    private let settings: Settings
    private var pairs: FailureBuckets<Pair>
    private var networks: FailureBuckets<String>
    private var users: FailureBuckets<String>
    private var known: RecentSet<Pair>

    init(_ settings: Settings = Settings()) {
        self.settings = settings
        pairs = FailureBuckets(countLimit: settings.countLimit)
        networks = FailureBuckets(countLimit: settings.countLimit)
        users = FailureBuckets(countLimit: settings.countLimit)
        known = RecentSet(countLimit: settings.countLimit)
    }

    /// Asks to check a password. Must be followed by `succeeded` or `withdrawn` where it did not fail.
    /// - Parameters:
    ///   - user: The folded name.
    ///   - address: The peer's address in text form.
    mutating func attempt(user: String, address: String, at now: Timestamp) -> Decision {
        let pair = Pair(user: user, network: Self.network(of: address))
        let isKnown = known.contains(pair)
        let wait = max(
            pairs.wait(pair, size(of: pair, at: now), at: now),
            isKnown ? .zero : networks.wait(pair.network, settings.network, at: now))
        guard wait == .zero else { return .refused(retryAfter: wait) }
        let attempt = Attempt(pair: pair, size: size(of: pair, at: now), wasKnown: isKnown)
        pairs.fill(pair, attempt.size, at: now)
        if !isKnown {
            networks.fill(pair.network, settings.network, at: now)
            users.fill(user, settings.everywhere, at: now)
        }
        return .admitted(attempt)
    }

    /// The password was right.
    mutating func succeeded(_ attempt: Attempt, at now: Timestamp) {
        withdrawn(attempt, at: now)
        pairs.forget(attempt.pair)
        known.insert(attempt.pair)
    }

    /// The password was not checked after all.
    mutating func withdrawn(_ attempt: Attempt, at now: Timestamp) {
        pairs.drain(attempt.pair, attempt.size, at: now)
        guard !attempt.wasKnown else { return }
        networks.drain(attempt.pair.network, settings.network, at: now)
        users.drain(attempt.pair.user, settings.everywhere, at: now)
    }

    private func size(of pair: Pair, at now: Timestamp) -> BucketSize {
        if known.contains(pair) { return settings.knownUser }
        return users.wait(pair.user, settings.everywhere, at: now) == .zero ? settings.user : settings.suspectUser
    }

    /// In whose turn a password is checked: that of a user in a known network, who goes first, or of the network.
    ///
    /// Wider than the networks that failures are counted by: what one owner usually has shares one turn.
    func share(of user: String, address: String) -> Argon2idQueue.Share {
        let pair = Pair(user: user, network: Self.network(of: address))
        if known.contains(pair) { return Argon2idQueue.Share(pair.user + " " + pair.network, isPreferred: true) }
        return Argon2idQueue.Share(ClientNetwork(address, ipv4Bits: 24, ipv6Bits: 56).description)
    }

    /// The address, or for IPv6 the first 64 bits: one subscriber has all the rest.
    static func network(of address: String) -> String {
        ClientNetwork(address, ipv4Bits: 32, ipv6Bits: 64).description
    }
}
