import MartletCore
import MartletHTTP
import MartletModel
import MartletPostgres
import MartletStorage
import Synchronization

/// Moves all data of this server to a database on PostgreSQL while it serves. At the end the server sends and changes
/// nothing for some seconds; then it ends, because its data is elsewhere. If the move fails, or is given up, the server
/// goes on.
final class ServingMove: Sendable {
    /// The parts of the server that a move stops.
    struct Parts: Sendable {
        let files: SQLiteStorage
        let keys: ServerKeys
        /// The lease without which nothing is sent.
        let lease: SendingLease
        let dispatcher: Dispatcher
        let jobs: JobRunner
        let log: Log
        /// How long requests to push services that are under way are waited for.
        var patience = Duration.seconds(5)
    }

    /// How long the parts of a move took.
    struct Times: Sendable {
        var copying = Duration.zero
        var stopped = Duration.zero
    }

    enum Event: Sendable {
        case progress(ServerMove.Event)
        /// The server has stopped, and what is left is copied.
        case stopped
    }

    /// A move that has begun.
    struct Run: Sendable {
        /// Names the move in `giveUp`.
        let number: Int
        /// Ends the wait for a database that hangs.
        fileprivate let connection: ConnectionBreak
        fileprivate let task: Task<Result<Times, ServerError>, Never>

        /// How long the move took, or why nothing was moved, or that it is not known whether anything was.
        var result: Result<Times, ServerError> { get async { await task.value } }
    }

    /// How long the server stays stopped at most, unless the caller says something else.
    static let limit = Duration.seconds(120)

    private let parts: Parts
    private let state = Mutex(ServingMoveState())
    /// The latest move.
    private let latest = Mutex<Run?>(nil)
    /// Why the server must end; nil if it need not.
    private let conclusion = Mutex<String?>(nil)
    private let (ends, end) = AsyncStream<String>.makeStream()

    init(_ parts: Parts) {
        self.parts = parts
        parts.lease.extendWithoutEnd()
    }

    /// A sentence that says why the server is not ready; nil if it is.
    var obstacle: String? {
        guard state.withLock(\.isStopped) else { return nil }
        return "The data of this server is being moved to a database. It takes no changes and sends nothing meanwhile."
    }

    /// Waits until the data has been moved, so that the server must end.
    /// - Returns: Why it ends; nil if the task is cancelled.
    func ended() async -> String? {
        for await reason in ends { return reason }
        return nil
    }

    /// Waits while a decision to complete a move is carried out. Called when the server stops for another reason, by a
    /// task that may be cancelled.
    func settle() async {
        guard state.withLock({ $0.stage == .completing }) else { return }
        _ = await latest.withLock(\.self)?.result
    }

    /// Gives up a move for which no decision has been made, so that the server goes on at once.
    /// - Parameter number: That of the move; nil for any.
    func giveUp(_ number: Int? = nil, because reason: String) {
        guard let wasStopped = state.withLock({ $0.giveUp(number, because: reason) }) else { return }
        // Otherwise the move would keep its copy and the log of the database for as long as PostgreSQL hangs.
        latest.withLock(\.self)?.connection.perform()
        if wasStopped { resumeAtEnd() }
    }

    /// Begins to move everything. When the result is known, and the caller has been told, `leave` must be called.
    /// - Parameters:
    ///   - url: The address of an empty database.
    ///   - limit: How long the server stays stopped at most before the move is given up, and how long the database may
    ///     take to complete it.
    ///   - report: Called from any thread.
    /// - Returns: nil if there is a move already.
    func begin(to url: String, limit: Duration, report: @escaping @Sendable (Event) -> Void) -> Run? {
        latest.withLock { latest in
            guard let number = state.withLock({ $0.begin() }) else { return nil }
            let connection = ConnectionBreak()
            let order = Order(number: number, url: url, limit: limit, connection: connection, report: report)
            latest = Run(number: number, connection: connection, task: Task { await self.run(order) })
            return latest
        }
    }

    /// Lets the server end, if its data was moved, or if that is not known.
    func leave() {
        if let sentence = conclusion.withLock(\.self) { end.yield(sentence) }
    }

    private struct Order: Sendable {
        let number: Int
        let url: String
        let limit: Duration
        let connection: ConnectionBreak
        let report: @Sendable (Event) -> Void
    }

    private func run(_ order: Order) async -> Result<Times, ServerError> {
        let worker = MoveWorker()
        do throws(StorageError) {
            let times = try await move(order, worker)
            await worker.end()
            conclude("All data was moved: \(Self.whatToStart)")
            state.withLock { $0.succeed() }
            return .success(times)
        } catch {
            let isDoubtful = await worker.isDoubtful
            await worker.end()
            let reason = state.withLock(\.refusal) ?? error.detail
            if isDoubtful {
                conclude("It is not known whether all data was moved: \(reason)")
            } else {
                parts.log.write(.warning, "The data was not moved: \(reason)")
            }
            if state.withLock({ $0.fail(isDoubtful: isDoubtful) }) { resumeAtEnd() }
            return .failure(ServerError(reason))
        }
    }

    private static let whatToStart =
        "this server ends. Start nodes with --database, each with another directory in --data and the same secret.key."

    private func conclude(_ sentence: String) {
        conclusion.withLock { $0 = sentence }
        parts.log.write(.warning, sentence)
    }

    private func move(_ order: Order, _ worker: MoveWorker) async throws(StorageError) -> Times {
        var times = Times()
        let begun = ContinuousClock.now
        let address = try DatabaseAddress(order.url)
        parts.log.write(.info, "All data is being moved.", ["database": .string(address.description)])
        let isWanted: @Sendable () -> Bool = { self.state.withLock { $0.refusal == nil } }
        let work = MoveWorker.Work(
            files: parts.files, keys: parts.keys, address: address, connection: order.connection
        ) { event throws(StorageError) in
            guard isWanted() else { throw Self.givenUp }
            order.report(.progress(ServerMove.Event(event)))
        }
        // First, because a refusal of the database should not wait for the copy.
        try await worker.open(work)
        try await worker.copy(work, from: try await parts.files.copyForMove(while: isWanted))
        times.copying = .now - begun
        guard state.withLock({ $0.stop() }) else { throw Self.givenUp }
        let stopped = ContinuousClock.now
        order.report(.stopped)
        await stopServing()
        let seconds = order.limit.components.seconds
        let watch = Self.after(order.limit) {
            self.giveUp(
                order.number, because: "The end of the move took longer than \(seconds) seconds, so it was given up.")
        }
        defer { watch.cancel() }
        try await worker.catchUp()
        guard state.withLock({ $0.decide() }) else { throw Self.givenUp }
        // What became of a COMMIT is asked for on another connection.
        let completion = Self.after(order.limit) { order.connection.perform() }
        defer { completion.cancel() }
        try await worker.complete()
        times.stopped = .now - stopped
        return times
    }

    private static let givenUp = StorageError(.unavailable, "The move was given up.")

    /// Does something after a time, unless the returned task is cancelled before.
    private static func after(_ time: Duration, _ act: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task { if (try? await Task.sleep(for: time)) != nil { act() } }
    }

    // MARK: Stopping the server

    /// Stops sending, waits for what is under way, and then refuses all changes.
    private func stopServing() async {
        parts.lease.revoke()
        parts.dispatcher.leaseEnded()
        let end = ContinuousClock.now + parts.patience
        // Nothing tells when the last push is recorded.
        while parts.dispatcher.underWay > 0, .now < end { try? await Task.sleep(for: .milliseconds(10)) }
        await parts.files.stopWriting()
        parts.log.write(.info, "The server takes no changes and sends nothing, until the rest of its data is moved.")
        // The move may have been given up meanwhile.
        if !state.withLock(\.isStopped) { resume() }
    }

    private func resumeAtEnd() {
        resume()
        state.withLock { $0.resumed() }
    }

    private func resume() {
        parts.files.resumeWriting()
        parts.lease.extendWithoutEnd()
        parts.dispatcher.leaseRenewed()
        Task { [parts] in
            do throws(StorageError) {
                try await parts.jobs.resume()
            } catch {
                parts.log.write(.warning, "Unfinished jobs could not be read, and go on at the next start: \(error)")
            }
        }
        parts.log.write(.warning, "The server goes on with the data in its directory.")
    }
}

/// Does the blocking work of a move, on a thread of its own.
private actor MoveWorker {
    struct Work: Sendable {
        let files: SQLiteStorage
        let keys: ServerKeys
        let address: DatabaseAddress
        let connection: ConnectionBreak
        let report: @Sendable (DataMove.Event) throws(StorageError) -> Void
    }

    private nonisolated let executor = ThreadExecutor()
    private var move: OnlineMove?
    private var target: PostgresMoveTarget?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var isDoubtful: Bool { move?.isDoubtful ?? false }

    func open(_ work: Work) throws(StorageError) {
        target = try PostgresMoveTarget(
            work.address, sealer: work.keys, rules: ServerMove.rules, breakable: work.connection)
    }

    func copy(_ work: Work, from copy: MoveCopy) throws(StorageError) {
        guard let target else { preconditionFailure("The database is opened before anything is copied.") }
        let source = try OnlineSQLiteMoveSource(work.files, copy, rules: ServerMove.rules)
        let move = OnlineMove(from: source, to: target, rules: ServerMove.rules, report: work.report)
        self.move = move
        try move.copy()
    }

    func catchUp() throws(StorageError) { try begun.catchUp() }

    func complete() throws(StorageError) { try begun.complete() }

    private var begun: OnlineMove {
        guard let move else { preconditionFailure("The snapshot is copied before the changes.") }
        return move
    }

    /// Closes the connections. What is not completed is rolled back.
    func end() { (move, target) = (nil, nil) }
}
