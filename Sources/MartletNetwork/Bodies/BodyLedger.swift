import MartletHTTP
import Synchronization

/// Counts the memory of a server's request bodies, or of its unread answers, and keeps it within limits. The
/// connections on all loops share it.
final class BodyLedger: Sendable {
    let limits: BodyLimits
    private let budget: Mutex<BodyBudget>
    private let refused = Atomic<Int>(0)
    private let waiting = Atomic<Int>(0)
    private let crowded = Atomic<Bool>(false)
    /// True if all unidentified senders together use at least half of the limit of one network. While this is false, no
    /// single network can use half of its limit.
    private let mayCrowdANetwork = Atomic<Bool>(false)

    init(limits: BodyLimits = BodyLimits()) {
        self.limits = limits
        budget = Mutex(BodyBudget(limits: limits))
    }

    /// The number of requests that were refused because the limits left no memory for the body, or for the answer if
    /// this ledger counts answers.
    var refusalCount: Int { refused.load(ordering: .relaxed) }

    /// True while unidentified senders together use at least half of `BodyLimits.strangers`.
    ///
    /// Connections then read and write only a few bytes at once.
    var isCrowded: Bool { crowded.load(ordering: .relaxed) }

    /// Returns true while all unidentified senders together use at least half of `BodyLimits.strangers`, or those of
    /// `network` use at least half of their limit.
    ///
    /// Every read of a connection calls this function, so it does not take the lock while unidentified senders use
    /// little.
    func isCrowded(for network: PeerNetwork) -> Bool {
        guard mayCrowdANetwork.load(ordering: .relaxed) else { return false }
        return isCrowded || budget.withLock { $0.isHalfFull(network) }
    }

    /// The number of bytes that are reserved for all senders together.
    var used: Int { budget.withLock { $0.known + $0.unknown } }

    var isEmpty: Bool { budget.withLock { $0.isEmpty } }

    func reserve(_ count: Int, for share: BodyBudget.Share, on connection: UInt64) -> Bool {
        change { $0.reserve(count, for: share, on: connection) }
    }

    func release(_ count: Int, of share: BodyBudget.Share, on connection: UInt64) {
        change { $0.release(count, of: share, on: connection) }
    }

    func add(_ count: Int, to share: BodyBudget.Share, on connection: UInt64) {
        change { $0.add(count, to: share, on: connection) }
    }

    private func change<Result>(_ body: (inout BodyBudget) -> Result) -> Result {
        budget.withLock { budget in
            let result = body(&budget)
            crowded.store(budget.unknown >= limits.strangers / 2, ordering: .relaxed)
            mayCrowdANetwork.store(
                budget.unknown >= min(limits.network, limits.strangers) / 2, ordering: .relaxed)
            return result
        }
    }

    /// Counts an answer that waits for memory.
    /// - Returns: False if too many answers already wait.
    func beginsToWait() -> Bool {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue > limits.waiting else { return true }
        waited()
        return false
    }

    var waitingCount: Int { waiting.load(ordering: .relaxed) }

    func waited() {
        waiting.wrappingSubtract(1, ordering: .relaxed)
    }

    func countRefusal() {
        refused.wrappingAdd(1, ordering: .relaxed)
    }
}

/// The body budget and the answer budget of a server, together with the connection and the network to charge.
struct ConnectionBodies {
    let ledger: BodyLedger
    /// The ledger of the answers that peers have not read yet.
    let answers: BodyLedger
    let connection: UInt64
    let network: PeerNetwork

    init(
        ledger: BodyLedger, answers: BodyLedger = BodyLedger(), connection: UInt64, network: PeerNetwork
    ) {
        self.ledger = ledger
        self.answers = answers
        self.connection = connection
        self.network = network
    }

    /// Creates budgets that only this connection uses.
    init(alone limits: ServerLimits, connection: UInt64) {
        self.init(
            ledger: BodyLedger(limits: limits.bodies), answers: BodyLedger(limits: limits.answers),
            connection: connection, network: .local)
    }

    /// The maximum number of bytes to read from a connection at once. It is small while memory for unidentified senders
    /// is scarce, because bytes that have been read are kept even beyond the limit.
    var inputLimit: Int { ledger.isCrowded(for: network) ? ledger.limits.free : .max }

    /// Creates the lease for a request.
    /// - Parameter headBytes: The size of the request's head, which stays in memory as long as the body.
    func lease(_ account: HTTPBodyAccount, headBytes: Int) -> BodyLease {
        BodyLease(self, account, headBytes: headBytes)
    }
}
