import CMartletPQ
import Glibc
import MartletCore
import Synchronization

/// The connection on which a node renews its lease, and sends and receives hints. No other work uses it, so that
/// nothing delays a renewal.
///
/// Unchecked: `connection`, `reconnection`, `sentAt` and `hasConnected` are only accessed on the thread.
final class NodeLink: @unchecked Sendable {
    private let thread = DatabaseThread()
    private let settings: ConnectionSettings
    private let channel: String
    private let receive: @Sendable (Received) -> Void
    /// An eventfd that wakes the thread.
    private let bell: Int32
    private let queue = Mutex(Queue())
    private var connection: Connection?
    private var reconnection = ReconnectionState()
    private var sentAt = ContinuousClock.now - .seconds(1)
    private var hasConnected = false

    enum Received {
        case text(String)
        /// The connection was made again. Hints that were sent in between are lost.
        case gap
    }

    private struct Queue {
        var work: [@Sendable (NodeLink) -> Void] = []
        var hints: [String] = []
        var isClosed = false
        var whenClosed: [@Sendable () -> Void] = []
    }

    /// The minimum time between two NOTIFY statements, because NOTIFY takes a lock of the whole database cluster. Hints
    /// that are queued within this time are sent with one statement.
    private static let gathering = Duration.milliseconds(5)
    /// The time between two attempts to connect while there is no connection.
    private static let retryInterval = Duration.milliseconds(100)

    /// - Parameter receive: Called on the thread with the hints of other nodes.
    init(_ settings: ConnectionSettings, receive: @escaping @Sendable (Received) -> Void) {
        self.settings = settings
        self.receive = receive
        channel = Self.channel(of: settings.schema)
        bell = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(bell >= 0, "The system gives this process no more files.")
        thread.perform { self.run() }
    }

    deinit {
        Glibc.close(bell)
    }

    /// The channel of the hints in a schema. Names are limited to 63 bytes.
    static func channel(of schema: String) -> String {
        String(decoding: "martlet_\(schema)".utf8.prefix(63), as: UTF8.self)
    }

    /// Runs work with the connection. If the connection breaks, the work runs once more.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) -> Value
    ) async throws(DatabaseFailure) -> Value {
        let result: Result<Value, DatabaseFailure> = await withCheckedContinuation { caller in
            let isAccepted = queue.withLock { queue in
                guard !queue.isClosed else { return false }
                queue.work.append { link in
                    do throws(DatabaseFailure) {
                        caller.resume(returning: .success(try link.attempt(work)))
                    } catch {
                        caller.resume(returning: .failure(error))
                    }
                }
                return true
            }
            if isAccepted { ring() } else { caller.resume(returning: .failure(.closed)) }
        }
        return try result.get()
    }

    /// Queues hints and returns at once. If there is no connection, the hints are dropped.
    func send(_ hints: [String]) {
        guard !hints.isEmpty else { return }
        queue.withLock { $0.hints += hints }
        ring()
    }

    /// Finishes the waiting work, then closes the connection.
    func close() async {
        await withCheckedContinuation { caller in
            let isOver = queue.withLock { queue in
                guard !queue.isClosed else { return true }
                queue.isClosed = true
                queue.whenClosed.append { caller.resume() }
                return false
            }
            if isOver { caller.resume() } else { ring() }
        }
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, 8)
    }

    // MARK: On the thread

    private func run() {
        while true {
            let work = queue.withLock { queue in
                defer { queue.work = [] }
                return queue.work
            }
            for item in work { item(self) }
            let isClosing = queue.withLock { $0.isClosed && $0.work.isEmpty }
            sendHints(isLast: isClosing)
            if isClosing { break }
            if connection == nil { _ = try? connected() }
            receiveHints()
            wait()
        }
        connection = nil
        let calls = queue.withLock { $0.whenClosed }
        for call in calls { call() }
    }

    private func attempt<Value>(
        _ work: (Connection, Connection.Patience) throws(DatabaseFailure) -> Value
    ) throws(DatabaseFailure) -> Value {
        do throws(DatabaseFailure) {
            return try work(try connected(), .until(.now + settings.patience))
        } catch  where error.isOfConnection && connection != nil {
            connection = nil
            if error == .late { settings.choice.passOver() }
            guard error != .late else { throw error }
        }
        do throws(DatabaseFailure) {
            return try work(try connected(), .until(.now + settings.patience))
        } catch {
            if error.isOfConnection { connection = nil }
            throw error
        }
    }

    private func connected() throws(DatabaseFailure) -> Connection {
        if let connection { return connection }
        if case .refuse(let failure) = reconnection.step(at: .now) { throw failure }
        do throws(DatabaseFailure) {
            let made = try settings.connect()
            try made.run(Batch(NodeStatements.listen(to: channel)), .until(.now + settings.patience))
            reconnection.succeed()
            connection = made
            if hasConnected { receive(.gap) }
            hasConnected = true
            return made
        } catch {
            reconnection.fail(error, at: .now)
            throw error
        }
    }

    private func sendHints(isLast: Bool) {
        guard isLast || sentAt + Self.gathering <= .now else { return }
        let hints = queue.withLock { queue in
            defer { queue.hints = [] }
            return queue.hints
        }
        guard !hints.isEmpty, let connection else { return }
        sentAt = .now
        let batch = Batch(NodeStatements.notify) {
            $0.add(channel)
            $0.add(hints)
        }
        do throws(DatabaseFailure) {
            try connection.run(batch, .until(.now + settings.patience))
        } catch {
            if error.isOfConnection { self.connection = nil }
        }
    }

    private func receiveHints() {
        guard let connection else { return }
        do throws(DatabaseFailure) {
            for text in try connection.notifications() { receive(.text(text)) }
        } catch {
            self.connection = nil
        }
    }

    /// Waits until another node's hint arrives, until there is new work, or until the queued hints may be sent.
    private func wait() {
        let hasHints = queue.withLock { !$0.hints.isEmpty }
        var limit: Duration?
        if hasHints {
            limit = max(.zero, sentAt + Self.gathering - ContinuousClock.now)
        } else if connection == nil {
            limit = Self.retryInterval
        }
        var sockets = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
        if let connection { sockets.append(pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)) }
        let milliseconds = limit.map { Int32(($0 / .milliseconds(1)).rounded(.up)) } ?? -1
        _ = poll(&sockets, nfds_t(sockets.count), milliseconds)
        var count: UInt64 = 0
        _ = read(bell, &count, 8)
    }
}
