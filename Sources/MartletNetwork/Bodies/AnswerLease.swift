import MartletHTTP
import Synchronization

/// The reservation of memory for one answer, until the peer has read the answer, or for all answer bytes that a
/// connection keeps.
///
/// The memory is released with the last reference to the lease.
final class AnswerLease: HTTPAnswerRoom {
    private struct State {
        var share: BodyBudget.Share
        var held = 0
    }

    /// The number of bytes up to which an answer is not counted.
    ///
    /// Most answers are shorter, so that they need no counting.
    static let freeBytes = 4 * 1024
    /// The number of bytes by which an answer must shrink before the change is counted.
    private static let step = 32 * 1024
    /// The first pause before an answer without room is tried again.
    private static let firstPause = Duration.milliseconds(2)
    /// The longest pause between two tries.
    ///
    /// It is long because each try costs time, and very many answers may wait.
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
            // All devices may share one key. The key has a separate account for each network, so that one device cannot
            // use up the share of all devices.
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

    /// Reserves `count` bytes for a share, and releases the bytes that the lease held before.
    /// - Returns: False if there is no room; then nothing has changed.
    func take(_ count: Int, of share: BodyBudget.Share) -> Bool {
        state.withLock { state in
            guard ledger.reserve(count, for: share, on: connection) else { return false }
            if state.held > 0 { ledger.release(state.held, of: state.share, on: connection) }
            state = State(share: share, held: count)
            return true
        }
    }

    /// Sets the number of bytes that are already in memory, even if they exceed the limits.
    ///
    /// Other answers then wait longer for room.
    /// - Parameter count: The number of bytes that are held now.
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
