import MartletHTTP
import Synchronization

/// The memory that is reserved for one answer, or for all answer bytes that wait on one connection.
///
/// An answer keeps its memory until the peer has read the answer. The memory is released with the last reference to the
/// lease.
final class AnswerLease: HTTPAnswerRoom {
    private struct State {
        var share: BodyBudget.Share
        var held = 0
    }

    /// The maximum length, in bytes, of an answer that `hold` does not count against the limits.
    ///
    /// Most answers are shorter, so most answers need no access to the budget.
    static let freeBytes = 4 * 1024
    /// The number of bytes by which the bytes in memory must decrease before `hold` updates the budget.
    private static let step = 32 * 1024
    /// The pause between the first two attempts to reserve memory for an answer.
    private static let firstPause = Duration.milliseconds(2)
    /// The longest pause between two attempts to reserve memory for an answer.
    ///
    /// It is long because each attempt costs time, and very many answers may wait.
    private static let lastPause = Duration.milliseconds(200)

    private let ledger: BodyLedger
    private let connection: UInt64
    private let peer: PeerNetwork
    private let network: BodyBudget.Share
    private let state: Mutex<State>

    /// Creates a lease whose bytes are charged to the network of the peer until `reserve` names another account.
    init(_ bodies: ConnectionBodies) {
        ledger = bodies.answers
        connection = bodies.connection
        peer = bodies.network
        network = .network(peer)
        state = Mutex(State(share: network))
    }

    deinit {
        let last = state.withLock(\.self)
        if last.held > 0 { ledger.release(last.held, of: last.share, on: connection) }
    }

    func reserve(_ count: Int, for account: HTTPBodyAccount) async -> Bool {
        let share: BodyBudget.Share =
            switch account {
            case .address: network
            // All devices may share one access key, which makes them one caller. The caller therefore has a separate
            // account for each network, so that one device cannot use up the memory of all devices.
            case .caller(let name, let scope): .caller(name, scope: scope, at: peer)
            }
        if take(count, of: share) { return true }
        if ledger.beginsToWait() {
            defer { ledger.waited() }
            let end = ContinuousClock.now + ledger.limits.patience
            var pause = Self.firstPause
            while .now < end, (try? await Task.sleep(for: pause)) != nil {
                if take(count, of: share) { return true }
                pause = min(pause * 2, Self.lastPause)
            }
        }
        ledger.countRefusal()
        return false
    }

    /// Reserves `count` bytes in an account, and releases the bytes that the lease held before.
    /// - Parameter share: The account that is charged.
    /// - Returns: False if the limits leave too little memory; then the lease keeps the bytes that it held before.
    func take(_ count: Int, of share: BodyBudget.Share) -> Bool {
        state.withLock { state in
            guard ledger.reserve(count, for: share, on: connection) else { return false }
            if state.held > 0 { ledger.release(state.held, of: state.share, on: connection) }
            state = State(share: share, held: count)
            return true
        }
    }

    /// Counts the bytes of the answer that are in memory now, even if they exceed the limits.
    ///
    /// If they exceed the limits, answers that wait for memory wait longer.
    /// - Parameter count: The number of bytes in memory.
    func hold(_ count: Int) {
        state.withLock { state in
            let count = state.held == 0 && count <= Self.freeBytes ? 0 : count
            let change = count - state.held
            guard change > 0 || change <= -Self.step || (count == 0 && change < 0) else { return }
            state.held = count
            ledger.add(change, to: state.share, on: connection)
        }
    }
}
