import MartletCore
import MartletModel
import Synchronization

/// All open event streams of the console.
final class EventStreams: Sendable {
    /// One open stream, which belongs to a session.
    struct Entry: Sendable {
        let mailbox: EventMailbox
        let session: OperatorSession
        /// The operator's roles at the time when the stream was opened.
        ///
        /// When the roles change, the stream ends.
        let roles: RoleGrants
        let topics: [Topic]
    }

    /// The reason why a stream ends.
    enum End: String, Sendable {
        case signedOut = "signed-out"
        case expired
        case roles
        case stopping
    }

    static let sessionLimit = 4
    /// The maximum number of streams of one operator in all sessions together. An operator may have 20 sessions, so the
    /// limit for one session is not enough.
    static let operatorLimit = 16
    static let countLimit = 64
    /// The number of streams, of `countLimit`, that only administrators of the whole server can open.
    static let reserved = 16

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var next: UInt64 = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Adds a stream.
    /// - Returns: The number of the stream; nil if the session, the operator or the server has too many streams, or if
    ///   the server is stopping.
    func add(_ entry: Entry) -> UInt64? {
        state.withLock { state in
            let own = state.entries.values.filter { $0.session.operatorName == entry.session.operatorName }
            let ofSession = own.count { $0.session.tokenHash == entry.session.tokenHash }
            guard !state.isStopped, ofSession < Self.sessionLimit, own.count < Self.operatorLimit,
                state.entries.count < Self.countLimit - (entry.roles.overall == .admin ? 0 : Self.reserved)
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

    /// Ends the streams for which `matches` returns true.
    func end(_ reason: End, where matches: (Entry) -> Bool = { _ in true }) {
        let ended = state.withLock { state in state.entries.values.filter(matches) }
        let bytes = ServerSentEvent.bytes("end", ["reason": .string(reason.rawValue)])
        for entry in ended { entry.mailbox.end(bytes) }
    }

    /// Ends all streams.
    ///
    /// No stream can be added afterwards.
    func stop() {
        state.withLock { $0.isStopped = true }
        end(.stopping)
    }
}
