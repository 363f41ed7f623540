import MartletCrypto
import MartletModel

/// Decides which passwords are checked, so that a password cannot be found by guessing.
///
/// Whether an attempt is refused depends only on failures **from the same network**, so attackers in other networks
/// cannot slow a user down. Failures are counted in three ways:
/// - per user and network: few are allowed. A network from which the user has logged in before is *known* and is
///   allowed more.
/// - per network, over all users: more are allowed, but not enough to go through a list of users. Users for whom the
///   network is known are exempt, so that a neighbour behind the same address cannot lock them out.
/// - per user, over all networks that are not known: while this count is exceeded, an attacker is guessing from many
///   networks, and each new network has a single attempt, followed by a long wait.
///
/// Every attempt with a password passes this limiter, even if the same password was verified a moment ago. Otherwise a
/// network that is refused could recognize the right password, because only that password would be accepted. Session
/// tokens do not pass the limiter. An attempt is counted when it is admitted, and the count is taken back when it
/// succeeds, so that parallel attempts cannot get around the limit.
struct LoginLimiter: Sendable {
    struct Settings: Hashable, Sendable {
        var user = BucketSize(drops: 5, interval: .seconds(30))
        var knownUser = BucketSize(drops: 20, interval: .seconds(10))
        var suspectUser = BucketSize(drops: 1, interval: .seconds(600))
        var network = BucketSize(drops: 30, interval: .seconds(10))
        var everywhere = BucketSize(drops: 50, interval: .seconds(60))
        /// The maximum number of entries in each table: failures by user and network, by network and by user, and known
        /// pairs of a user and a network.
        var countLimit = 10_000
    }

    enum Decision: Hashable, Sendable {
        case admitted(Attempt)
        case refused(retryAfter: Duration)
    }

    /// An attempt with the failures that were counted for it. Exactly these failures are taken back if the attempt
    /// succeeds, even if the network became known meanwhile.
    struct Attempt: Hashable, Sendable {
        fileprivate let pair: Pair
        fileprivate let size: BucketSize
        /// Whether the network was known for the user.
        let wasKnown: Bool
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

    /// Asks for permission to check a password, and counts the attempt as failed. If the password is right, the caller
    /// must then call `succeeded`; if it could not be checked, `withdrawn`; if it is wrong, neither.
    /// - Parameters:
    ///   - user: The user's name in lower case.
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

    /// Records that the password was correct. The failures of this user in this network are forgotten, and the network
    /// becomes known for the user.
    mutating func succeeded(_ attempt: Attempt, at now: Timestamp) {
        withdrawn(attempt, at: now)
        pairs.forget(attempt.pair)
        known.insert(attempt.pair)
    }

    /// Records that the password was not checked after all, or that the result of its check was known already, so the
    /// attempt no longer counts as failed.
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

    /// Returns the share of the hashing queue in which a password is checked: a preferred share for a user in a known
    /// network, otherwise the share of the network.
    ///
    /// The networks of shares are wider than the networks by which failures are counted, so that all addresses that one
    /// owner usually has belong to a single share.
    func share(of user: String, address: String) -> Argon2idQueue.Share {
        let pair = Pair(user: user, network: Self.network(of: address))
        if known.contains(pair) { return Argon2idQueue.Share(pair.user + " " + pair.network, isPreferred: true) }
        return Argon2idQueue.Share(Self.neighborhood(of: address))
    }

    /// Returns the network that one owner usually has: the first 24 bits of an IPv4 address, or the first 56 of an IPv6
    /// address.
    static func neighborhood(of address: String) -> String {
        ClientNetwork(address, ipv4Bits: 24, ipv6Bits: 56).description
    }

    /// Returns the client's network: the whole IPv4 address, or the first 64 bits of an IPv6 address, because the
    /// remaining bits belong to a single subscriber.
    static func network(of address: String) -> String {
        ClientNetwork(address, ipv4Bits: 32, ipv6Bits: 64).description
    }
}
