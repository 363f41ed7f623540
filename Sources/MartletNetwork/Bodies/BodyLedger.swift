import MartletHTTP
import Synchronization

/// The budget of a server, which the connections on all its loops share.
final class BodyLedger: Sendable {
    let limits: BodyLimits
    private let budget: Mutex<BodyBudget>
    private let refused = Atomic<Int>(0)

    init(limits: BodyLimits = BodyLimits()) {
        self.limits = limits
        budget = Mutex(BodyBudget(limits: limits))
    }

    /// How many requests were refused because there was no room.
    var refusalCount: Int { refused.load(ordering: .relaxed) }

    /// How many bytes are reserved.
    var used: Int { budget.withLock { $0.known + $0.unknown } }

    var isEmpty: Bool { budget.withLock { $0.isEmpty } }

    func reserve(_ count: Int, for share: BodyBudget.Share, on connection: UInt64) -> Bool {
        budget.withLock { $0.reserve(count, for: share, on: connection) }
    }

    func release(_ count: Int, of share: BodyBudget.Share, on connection: UInt64) {
        budget.withLock { $0.release(count, of: share, on: connection) }
    }

    func countRefusal() {
        refused.wrappingAdd(1, ordering: .relaxed)
    }
}

/// What a connection knows of the budget.
struct ConnectionBodies {
    let ledger: BodyLedger
    let connection: UInt64
    let network: PeerNetwork

    init(ledger: BodyLedger, connection: UInt64, network: PeerNetwork) {
        self.ledger = ledger
        self.connection = connection
        self.network = network
    }

    /// A connection that shares its budget with no other.
    init(alone limits: ServerLimits, connection: UInt64) {
        self.init(ledger: BodyLedger(limits: limits.bodies), connection: connection, network: .local)
    }

    /// - Parameter headBytes: The size of the request's head, which is kept as long as its body.
    func lease(_ account: HTTPBodyAccount, headBytes: Int) -> BodyLease {
        BodyLease(self, account, headBytes: headBytes)
    }
}
