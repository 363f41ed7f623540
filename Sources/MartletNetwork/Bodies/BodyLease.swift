import MartletHTTP

/// The memory reserved for one request: for its head, and for the part of its body for which memory was requested.
///
/// The memory is released with the last reference to the lease. The request keeps a reference, so the memory stays
/// reserved at least as long as the request exists.
///
/// @unchecked Sendable: while the stream of the request holds the lease, only the loop of the connection changes the
/// properties. Other threads only keep a reference, and the last reference runs `deinit`.
final class BodyLease: @unchecked Sendable {
    private let bodies: ConnectionBodies
    private var share: BodyBudget.Share
    private let headBytes: Int
    /// The number of bytes reserved from `share`, including those of the head.
    private var reserved = 0
    /// The number of bytes that arrived before memory was reserved for them in the account `share`.
    ///
    /// They are charged to the network of the peer.
    private var early = 0
    /// The number of body bytes for which memory was requested but not granted.
    private var wanted = 0
    /// True while the lease holds bytes beyond the limits, because no memory was left for them when they arrived.
    ///
    /// As long as this is true, nothing more may be read from the connection.
    private(set) var isOverdrawn = false
    private var waitsUntil: ContinuousClock.Instant?
    /// The time of the next attempt to reserve memory for the body; nil if the body does not wait for memory.
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

    /// True while the body waits for memory.
    ///
    /// As long as this is true, no more of the body may be read.
    var isWaiting: Bool { retryAt != nil }

    /// True if the request is charged to an identified caller, not to the network of the peer.
    var isOfKnownCaller: Bool { if case .caller = share { true } else { false } }

    /// The number of body bytes for which memory is reserved.
    var room: Int { reserved - headBytes }

    /// Moves the charge for the request to the account of its sender. Called once the sender is identified.
    /// - Parameter count: The number of body bytes in memory. If the sender's account has no room for the request, its
    ///   bytes are charged to the network of the peer, even beyond the limits, because they are in memory already.
    func charge(to account: HTTPBodyAccount, holding count: Int) {
        let new = Self.share(of: account, bodies)
        guard new != share else { return }
        let old = (share: share, reserved: reserved)
        share = new
        reserved = 0
        if case .network = old.share { early += old.reserved } else { giveBack(old.reserved, of: old.share) }
        guard bodies.ledger.reserve(headBytes + count, for: share, on: bodies.connection) else {
            let missing = headBytes + count - early
            if missing > 0 {
                bodies.ledger.add(missing, to: .network(bodies.network), on: bodies.connection)
                early += missing
            }
            return
        }
        reserved = headBytes + count
        giveBackEarly()
        if isOverdrawn { giveUp() }
        isOverdrawn = false
    }

    /// Makes sure that memory is reserved for the first `count` bytes of the body.
    /// - Returns: False if the limits leave too little memory. Then the body waits, and `retry` must be called at
    ///   `retryAt`.
    func cover(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
        let missing = headBytes + count - reserved
        guard missing <= 0 || bodies.ledger.reserve(missing, for: share, on: bodies.connection) else {
            wanted = max(wanted, count)
            waitsUntil = waitsUntil ?? now + bodies.ledger.limits.patience
            retryAt = now + bodies.ledger.limits.retryInterval
            return false
        }
        reserved += max(0, missing)
        giveBackEarly()
        isOverdrawn = false
        wanted = 0
        waitsUntil = nil
        retryAt = nil
        return true
    }

    /// Reserves memory for bytes that have already arrived.
    /// - Parameter count: The total number of body bytes in memory.
    /// - Returns: False if the limits leave too little memory. Then the bytes must be dropped and the request refused.
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

    /// Holds bytes that arrived with the head although no memory is left for them, and waits for memory.
    ///
    /// Used while the sender is still being identified. The sender may turn out to be a known caller. A known caller
    /// must not be refused because unidentified senders have reached their limit (`BodyLimits.strangers`).
    ///
    /// Nothing more may be read from the connection while `isOverdrawn` is true, so that the excess is at most the
    /// bytes of one read.
    /// - Parameter count: The total number of body bytes in memory.
    func overdraw(_ count: Int, at now: ContinuousClock.Instant) {
        let missing = headBytes + count - reserved - early
        if missing > 0 {
            bodies.ledger.add(missing, to: .network(bodies.network), on: bodies.connection)
            early += missing
        }
        isOverdrawn = true
        wanted = max(wanted, count)
        waitsUntil = waitsUntil ?? now + bodies.ledger.limits.patience
        retryAt = retryAt ?? now + bodies.ledger.limits.retryInterval
    }

    enum Outcome {
        case granted
        case waiting
        /// The memory for the body could not be reserved within `BodyLimits.patience`.
        case refused
    }

    /// Tries again to reserve the memory for which the body waits.
    func retry(at now: ContinuousClock.Instant) -> Outcome {
        guard isWaiting else { return .granted }
        let end = waitsUntil
        if cover(wanted, at: now) { return .granted }
        guard let end, end <= now else { return .waiting }
        return .refused
    }

    /// Stops waiting for memory.
    func giveUp() {
        waitsUntil = nil
        retryAt = nil
    }

    func countRefusal() {
        bodies.ledger.countRefusal()
    }

    private func giveBackEarly() {
        giveBack(early, of: .network(bodies.network))
        early = 0
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
