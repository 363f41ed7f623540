import MartletHTTP
import Synchronization

/// The body budget of a server, shared by the connections on all its loops.
final class BodyLedger: Sendable {
    let limits: BodyLimits
    private let budget: Mutex<BodyBudget>
    private let refused = Atomic<Int>(0)
    private let waiting = Atomic<Int>(0)
    private let crowded = Atomic<Bool>(false)

    init(limits: BodyLimits = BodyLimits()) {
        self.limits = limits
        budget = Mutex(BodyBudget(limits: limits))
    }

    /// The number of requests that were refused because there was no room for the body.
    var refusalCount: Int { refused.load(ordering: .relaxed) }

    /// True while unidentified senders have half of what they may have: each connection should then take little at once.
    var isCrowded: Bool { crowded.load(ordering: .relaxed) }

    /// True while unidentified senders, or those of a network, have half of what they may have.
    func isCrowded(for network: PeerNetwork) -> Bool { isCrowded || budget.withLock { $0.isHalfFull(network) } }

    /// The number of bytes that are reserved.
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
            return result
        }
    }

    /// Counts an answer that waits for room.
    /// - Returns: False if so many wait that no other should.
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

/// The body budget, and that of answers, as one connection uses them.
struct ConnectionBodies {
    let ledger: BodyLedger
    /// Counts answers that the peers have not read.
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

    /// Creates a budget for a connection that shares it with no other.
    init(alone limits: ServerLimits, connection: UInt64) {
        self.init(
            ledger: BodyLedger(limits: limits.bodies), answers: BodyLedger(limits: limits.answers),
            connection: connection, network: .local)
    }

    /// How many bytes of a connection are read at once: few while the memory for those who are not identified yet is
    /// scarce, because what was read and has no room is held beyond the limit.
    var inputLimit: Int { ledger.isCrowded(for: network) ? ledger.limits.free : .max }

    /// - Parameter headBytes: The size of the request's head, which stays in memory as long as the body.
    func lease(_ account: HTTPBodyAccount, headBytes: Int) -> BodyLease {
        BodyLease(self, account, headBytes: headBytes)
    }
}
