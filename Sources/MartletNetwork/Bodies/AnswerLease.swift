import MartletHTTP
import Synchronization

/// The memory of one answer, from when room is made for it until the peer has read it, or of all that a connection keeps
/// of its answers. It is released with the last reference to the lease.
final class AnswerLease: HTTPAnswerRoom {
    private struct State {
        var share: BodyBudget.Share
        var held = 0
    }

    /// How many bytes of an answer are not counted. Most answers are shorter, and cost nothing here.
    static let freeBytes = 4 * 1024
    /// How much an answer must have shrunk before that is counted.
    private static let step = 32 * 1024
    /// How soon an answer without room is tried again at first.
    private static let firstPause = Duration.milliseconds(2)
    /// How soon at last: trying again costs time, and very many may wait.
    private static let lastPause = Duration.milliseconds(200)

    private let ledger: BodyLedger
    private let connection: UInt64
    private let peer: PeerNetwork
    private let network: BodyBudget.Share
    private let state: Mutex<State>

    /// Until another account is named, bytes are charged to the network of the peer.
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
            // A key that every device has is one account for each network: one device fills not the share of all.
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

    /// - Returns: False if there is no room; then nothing changed.
    func take(_ count: Int, of share: BodyBudget.Share) -> Bool {
        state.withLock { state in
            guard ledger.reserve(count, for: share, on: connection) else { return false }
            if state.held > 0 { ledger.release(state.held, of: state.share, on: connection) }
            state = State(share: share, held: count)
            return true
        }
    }

    /// Counts what is in memory, whether it has room or not: it is there. Further answers then wait for longer.
    /// - Parameter count: The bytes that are held now.
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
