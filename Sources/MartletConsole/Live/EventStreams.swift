import MartletCore
import MartletModel
import Synchronization

/// The open event streams.
final class EventStreams: Sendable {
    /// One stream of a session.
    struct Entry: Sendable {
        let mailbox: EventMailbox
        let session: OperatorSession
        /// The roles when the stream was opened. When they change, the stream ends.
        let roles: RoleGrants
        let topics: [Topic]

        /// Whether a stream may show something about a hub.
        func shows(_ hub: String?) -> Bool { hub.map { roles.role(for: $0) != nil } ?? true }
    }

    /// The reason why a stream ends.
    enum End: String, Sendable {
        case signedOut = "signed-out"
        case expired
        case roles
        case stopping
    }

    static let sessionLimit = 4
    /// Of one operator, who may have 20 sessions.
    static let operatorLimit = 16
    static let countLimit = 64

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var next: UInt64 = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Adds a stream.
    /// - Returns: Its number; nil if the session, the operator or the server has too many, or if the server is stopping.
    func add(_ entry: Entry) -> UInt64? {
        state.withLock { state in
            let own = state.entries.values.filter { $0.session.operatorName == entry.session.operatorName }
            let ofSession = own.count { $0.session.tokenHash == entry.session.tokenHash }
            guard !state.isStopped, ofSession < Self.sessionLimit, own.count < Self.operatorLimit,
                state.entries.count < Self.countLimit
            else { return nil }
            state.next += 1
            state.entries[state.next] = entry
            return state.next
        }
    }

    func remove(_ number: UInt64) {
        state.withLock { _ = $0.entries.removeValue(forKey: number) }
    }

    var all: [Entry] { state.withLock { Array($0.entries.values) } }

    var isEmpty: Bool { state.withLock(\.entries.isEmpty) }

    /// Ends the streams that match.
    func end(_ reason: End, where matches: (Entry) -> Bool = { _ in true }) {
        let ended = state.withLock { state in state.entries.values.filter(matches) }
        let bytes = ServerSentEvent.bytes("end", ["reason": .string(reason.rawValue)])
        for entry in ended { entry.mailbox.end(bytes) }
    }

    /// Ends all streams, and adds no more.
    func stop() {
        state.withLock { $0.isStopped = true }
        end(.stopping)
    }
}
