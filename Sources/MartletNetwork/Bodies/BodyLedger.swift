import MartletHTTP
import Synchronization

/// The body budget of a server, shared by the connections on all its loops.
final class BodyLedger: Sendable {
    let limits: BodyLimits
    private let budget: Mutex<BodyBudget>
    private let refused = Atomic<Int>(0)

    init(limits: BodyLimits = BodyLimits()) {
        self.limits = limits
        budget = Mutex(BodyBudget(limits: limits))
    }

    /// The number of requests that were refused because there was no room for the body.
    var refusalCount: Int { refused.load(ordering: .relaxed) }

    /// The number of bytes that are reserved.
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

/// The body budget as one connection uses it.
struct ConnectionBodies {
    let ledger: BodyLedger
    let connection: UInt64
    let network: PeerNetwork

    init(ledger: BodyLedger, connection: UInt64, network: PeerNetwork) {
        self.ledger = ledger
        self.connection = connection
        self.network = network
    }

    /// Creates a budget for a connection that shares it with no other.
    init(alone limits: ServerLimits, connection: UInt64) {
        self.init(ledger: BodyLedger(limits: limits.bodies), connection: connection, network: .local)
    }

    /// - Parameter headBytes: The size of the request's head, which stays in memory as long as the body.
    func lease(_ account: HTTPBodyAccount, headBytes: Int) -> BodyLease {
        BodyLease(self, account, headBytes: headBytes)
    }
}
