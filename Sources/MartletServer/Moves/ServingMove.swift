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
        /// How long the server stays stopped at most.
        var limit = Duration.seconds(120)
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

    private let parts: Parts
    private let state = Mutex(ServingMoveState())
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

    /// Waits while a decision to complete a move is carried out. Called when the server stops for another reason.
    func settle() async {
        // The decision is carried out on a thread of its own, and takes as long as a COMMIT of the database.
        while state.withLock({ $0.stage == .completing }) { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Gives up a move for which no decision has been made, so that the server goes on at once.
    func giveUp(because reason: String) {
        if state.withLock({ $0.giveUp(because: reason) }) { resume() }
    }

    /// Moves everything.
    /// - Parameters:
    ///   - url: The address of an empty database.
    ///   - report: Called from any thread.
    /// - Throws: `ServerError` if nothing was moved, or if that is not known. In the latter case, and after success, the
    ///   caller calls `leave`.
    func run(to url: String, report: @escaping @Sendable (Event) -> Void) async throws(ServerError) -> Times {
        guard state.withLock({ $0.begin() }) else {
            throw ServerError("A move is under way already, or has not ended yet. Wait for its end.")
        }
        let worker = MoveWorker()
        do throws(StorageError) {
            let times = try await move(url, worker, report)
            await worker.end()
            state.withLock { $0.succeed() }
            conclude("All data was moved: \(Self.whatToStart)")
            return times
        } catch {
            let isDoubtful = await worker.isDoubtful
            await worker.end()
            if state.withLock({ $0.fail(isDoubtful: isDoubtful) }) { resume() }
            if isDoubtful { conclude("It is not known whether all data was moved: \(error.detail)") }
            let reason = state.withLock(\.refusal)
            parts.log.write(.warning, "The data was not moved: \(reason ?? error.detail)")
            throw ServerError(reason ?? error.detail)
        }
    }

    private static let whatToStart =
        "this server ends. Start nodes with --database, each with another directory in --data and the same secret.key."

    private func conclude(_ sentence: String) {
        conclusion.withLock { $0 = sentence }
        parts.log.write(.warning, sentence)
    }

    /// Lets the server end, if its data was moved. Called when the caller of the move has been told.
    func leave() {
        if let sentence = conclusion.withLock(\.self) { end.yield(sentence) }
    }

    private func move(
        _ url: String, _ worker: MoveWorker, _ report: @escaping @Sendable (Event) -> Void
    ) async throws(StorageError) -> Times {
        var times = Times()
        let begun = ContinuousClock.now
        let address = try DatabaseAddress(url)
        parts.log.write(.info, "All data is being moved.", ["database": .string(address.description)])
        let work = MoveWorker.Work(files: parts.files, keys: parts.keys, address: address) {
            [weak self] event throws(StorageError) in
            guard self?.state.withLock({ $0.refusal }) == nil else { throw Self.givenUp }
            report(.progress(ServerMove.Event(event)))
        }
        // First, because a refusal of the database should not wait for the copy.
        try await worker.open(work)
        try await worker.copy(work, from: try await parts.files.copyForMove())
        times.copying = .now - begun
        guard state.withLock({ $0.stop() }) else { throw Self.givenUp }
        let stopped = ContinuousClock.now
        report(.stopped)
        await stopServing()
        let watch = Task { [weak self, limit = parts.limit] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self?.giveUp(
                because: "The end of the move took longer than \(limit.components.seconds) seconds, so it was given up."
            )
        }
        defer { watch.cancel() }
        try await worker.catchUp()
        guard state.withLock({ $0.decide() }) else { throw Self.givenUp }
        try await worker.complete()
        times.stopped = .now - stopped
        return times
    }

    private static let givenUp = StorageError(.unavailable, "The move was given up.")

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
        let report: @Sendable (DataMove.Event) throws(StorageError) -> Void
    }

    private nonisolated let executor = ThreadExecutor()
    private var move: OnlineMove?
    private var target: PostgresMoveTarget?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var isDoubtful: Bool { move?.isDoubtful ?? false }

    func open(_ work: Work) throws(StorageError) {
        target = try PostgresMoveTarget(work.address, sealer: work.keys, rules: ServerMove.rules)
    }

    func copy(_ work: Work, from copy: MoveCopy) throws(StorageError) {
        guard let target else { return }
        let source = try OnlineSQLiteMoveSource(work.files, copy, rules: ServerMove.rules)
        let move = OnlineMove(from: source, to: target, rules: ServerMove.rules, report: work.report)
        self.move = move
        try move.copy()
    }

    func catchUp() throws(StorageError) { try move?.catchUp() }

    func complete() throws(StorageError) { try move?.complete() }

    /// Closes the connections. What is not completed is rolled back.
    func end() { (move, target) = (nil, nil) }
}
