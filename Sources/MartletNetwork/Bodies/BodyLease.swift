import MartletHTTP

/// The memory that is reserved for one request: its head and as much of its body as was asked for. It is given back when
/// nobody has the lease any more, which is when nobody has the request.
///
/// @unchecked Sendable: everything is changed on the loop of the connection alone, while its stream has the lease; others
/// only keep it, and the last of them ends it.
final class BodyLease: @unchecked Sendable {
    private let bodies: ConnectionBodies
    private var share: BodyBudget.Share
    private let headBytes: Int
    /// Bytes of `share`, those of the head among them.
    private var reserved = 0
    /// Bytes that came before there was room for them, charged to the network of the peer.
    private var early = 0
    /// How much of the body was asked for and not granted.
    private var wanted = 0
    private var waitsUntil: ContinuousClock.Instant?
    /// When room is to be looked for again; nil where nothing is waited for.
    private(set) var retryAt: ContinuousClock.Instant?

    init(_ bodies: ConnectionBodies, _ account: HTTPBodyAccount, headBytes: Int) {
        self.bodies = bodies
        self.headBytes = headBytes
        share = Self.share(of: account, bodies)
    }

    deinit {
        giveBack(reserved, of: share)
        giveBack(early, of: .network(bodies.network))
    }

    /// Whether the body waits for room: nothing more of it is to be read.
    var isWaiting: Bool { retryAt != nil }

    /// Whether somebody known is charged, not the network of the peer.
    var isOfKnownCaller: Bool { if case .caller = share { true } else { false } }

    /// How much of the body there is room for.
    var room: Int { reserved - headBytes }

    /// Says who sends the request, which was not known before.
    /// - Parameter count: How much of the body is held: where the new share has no room for it, it stays with the network.
    func charge(to account: HTTPBodyAccount, holding count: Int) {
        let new = Self.share(of: account, bodies)
        guard new != share else { return }
        if case .network = share {
            early += reserved
        } else {
            giveBack(reserved, of: share)
        }
        reserved = 0
        share = new
        guard bodies.ledger.reserve(headBytes + count, for: share, on: bodies.connection) else { return }
        reserved = headBytes + count
        giveBack(early, of: .network(bodies.network))
        early = 0
    }

    /// Reserves room for so many bytes of the body.
    /// - Returns: Whether there is room; otherwise the body waits.
    func cover(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
        let missing = headBytes + count - reserved
        guard missing <= 0 || bodies.ledger.reserve(missing, for: share, on: bodies.connection) else {
            wanted = max(wanted, count)
            waitsUntil = waitsUntil ?? now + bodies.ledger.limits.patience
            retryAt = now + bodies.ledger.limits.retryInterval
            return false
        }
        reserved += max(0, missing)
        giveBack(early, of: .network(bodies.network))
        early = 0
        wanted = 0
        waitsUntil = nil
        retryAt = nil
        return true
    }

    /// Makes room for bytes that have come already.
    /// - Parameter count: All of the body that is held.
    /// - Returns: false where they must be dropped and the request refused.
    func hold(_ count: Int) -> Bool {
        if isWaiting { wanted = max(wanted, count) }
        let missing = headBytes + count - reserved - early
        guard missing > 0 else { return true }
        let network = BodyBudget.Share.network(bodies.network)
        if !isWaiting, bodies.ledger.reserve(missing, for: share, on: bodies.connection) {
            reserved += missing
        } else if bodies.ledger.reserve(missing, for: network, on: bodies.connection) {
            early += missing
        } else {
            return false
        }
        return true
    }

    enum Outcome {
        case granted
        case waiting
        /// There was no room for as long as is waited.
        case refused
    }

    /// Looks for room again.
    func retry(at now: ContinuousClock.Instant) -> Outcome {
        guard isWaiting else { return .granted }
        let end = waitsUntil
        if cover(wanted, at: now) { return .granted }
        guard let end, end <= now else { return .waiting }
        return .refused
    }

    /// Nothing is waited for any more.
    func giveUp() {
        waitsUntil = nil
        retryAt = nil
    }

    func countRefusal() {
        bodies.ledger.countRefusal()
    }

    private func giveBack(_ count: Int, of share: BodyBudget.Share) {
        if count > 0 { bodies.ledger.release(count, of: share, on: bodies.connection) }
    }

    private static func share(of account: HTTPBodyAccount, _ bodies: ConnectionBodies) -> BodyBudget.Share {
        switch account {
        case .address: .network(bodies.network)
        case .caller(let name, let scope): .caller(name, scope: scope)
        }
    }
}
