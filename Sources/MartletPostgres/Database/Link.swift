import MartletCore
import Synchronization

/// A connection with a thread of its own. It connects at the first use, and again after the connection has broken.
///
/// Unchecked: `connection` and `reconnection` are only accessed on the thread.
final class Link: @unchecked Sendable {
    private let thread = DatabaseThread()
    private let settings: ConnectionSettings
    private let queue = Mutex(Queue())
    private var connection: Connection?
    private var reconnection = ReconnectionState()

    private struct Queue {
        var items: [Item] = []
        var isClosed = false
        var reconnects = 0
    }

    private enum Item: Sendable {
        /// A batch that only reads. Reading batches that wait one after another run in one pipeline.
        case read(Batch, ContinuousClock.Instant, @Sendable (Result<[Rows], DatabaseFailure>) -> Void)
        /// Work that needs more than one batch. If no connection can be made, the work is called with the failure.
        case work(@Sendable (Result<LinkAccess, DatabaseFailure>) -> Void)
    }

    init(_ settings: ConnectionSettings) {
        self.settings = settings
    }

    /// The number of times that the link has connected again after its first connection.
    var reconnects: Int { queue.withLock { max(0, $0.reconnects - 1) } }

    /// The number of batches and other work items that wait.
    var waitingCount: Int { queue.withLock { $0.items.count } }

    /// Runs a batch of statements that only read. Batches that wait together share one pipeline. If the connection
    /// breaks, the batch runs once more on a new one.
    func read(_ batch: Batch) async throws(DatabaseFailure) -> [Rows] {
        let deadline = ContinuousClock.now + settings.patience
        let result = await withCheckedContinuation { caller in
            submit(.read(batch, deadline, { caller.resume(returning: $0) }))
        }
        return try result.get()
    }

    /// Runs work on the thread of the connection.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (LinkAccess) throws(DatabaseFailure) -> Value
    ) async throws(DatabaseFailure) -> Value {
        let result: Result<Value, DatabaseFailure> = await withCheckedContinuation { caller in
            submit(
                .work { access in
                    do throws(DatabaseFailure) {
                        caller.resume(returning: .success(try work(try access.get())))
                    } catch {
                        caller.resume(returning: .failure(error))
                    }
                })
        }
        return try result.get()
    }

    /// Runs work on the thread of the connection, without waiting for it.
    func submit(_ work: @escaping @Sendable (Result<LinkAccess, DatabaseFailure>) -> Void) {
        submit(.work(work))
    }

    /// Returns when the thread has finished all work that was submitted before this call.
    func turn() async {
        await withCheckedContinuation { caller in thread.perform { caller.resume() } }
    }

    /// Finishes the waiting work, then closes the connection.
    func close() async {
        let isFirst = queue.withLock { queue in
            defer { queue.isClosed = true }
            return !queue.isClosed
        }
        guard isFirst else { return }
        await withCheckedContinuation { caller in
            thread.perform {
                self.runWaiting()
                self.connection = nil
                caller.resume()
            }
        }
    }

    private func submit(_ item: Item) {
        let isAccepted = queue.withLock { queue in
            guard !queue.isClosed else { return false }
            queue.items.append(item)
            return true
        }
        guard isAccepted else { return Self.answer(item, .closed) }
        thread.perform { self.runWaiting() }
    }

    private static func answer(_ item: Item, _ failure: DatabaseFailure) {
        switch item {
        case .read(_, _, let answer): answer(.failure(failure))
        case .work(let work): work(.failure(failure))
        }
    }

    // MARK: On the thread

    /// The maximum number of batches in one pipeline.
    private static let pipelineLimit = 64

    private func runWaiting() {
        var items = queue.withLock { queue in
            defer { queue.items = [] }
            return queue.items[...]
        }
        while let first = items.first {
            guard case .work(let work) = first else {
                let reads = items.prefix { if case .read = $0 { true } else { false } }.prefix(Self.pipelineLimit)
                items = items.dropFirst(reads.count)
                run(Array(reads))
                continue
            }
            items.removeFirst()
            do throws(DatabaseFailure) {
                work(.success(LinkAccess(link: self, connection: try connected())))
            } catch {
                work(.failure(error))
            }
        }
    }

    private func run(_ reads: [Item]) {
        var left: [(Batch, ContinuousClock.Instant, @Sendable (Result<[Rows], DatabaseFailure>) -> Void)] = []
        for case .read(let batch, let deadline, let answer) in reads {
            if deadline > .now { left.append((batch, deadline, answer)) } else { answer(.failure(.late)) }
        }
        for attempt in 1...2 where !left.isEmpty {
            do throws(DatabaseFailure) {
                let connection = try connected()
                let deadline = left.map(\.1).min() ?? .now
                let results = try connection.run(left.map(\.0), .until(deadline))
                for (read, result) in zip(left, results) { read.2(result) }
                if results.contains(where: { $0.failure?.isOfConnection ?? false }) { drop() }
                return
            } catch {
                drop()
                guard error == .late || attempt == 2 else { continue }
                for read in left { read.2(.failure(error)) }
                return
            }
        }
    }

    /// Closes a connection that can no longer be used. The next call makes a new one.
    fileprivate func drop() {
        connection = nil
    }

    fileprivate func connected() throws(DatabaseFailure) -> Connection {
        if let connection { return connection }
        if case .refuse(let failure) = reconnection.step(at: .now) { throw failure }
        do throws(DatabaseFailure) {
            let made = try settings.connect()
            reconnection.succeed()
            queue.withLock { $0.reconnects += 1 }
            connection = made
            return made
        } catch {
            reconnection.fail(error, at: .now)
            throw error
        }
    }
}

/// The connection of a link, for work on its thread.
struct LinkAccess {
    fileprivate let link: Link
    fileprivate(set) var connection: Connection

    /// Replaces a connection that broke.
    mutating func reconnect() throws(DatabaseFailure) {
        link.drop()
        connection = try link.connected()
    }

    /// Drops the connection, so that the next work gets a new one.
    func drop() {
        link.drop()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
