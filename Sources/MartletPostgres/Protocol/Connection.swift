import CMartletPQ
import Glibc
import MartletCore

/// A connection to the server, in pipeline mode: all statements of a batch are sent before the first answer is read. A
/// connection is used on one thread only, which waits for the socket with `poll`.
final class Connection {
    private let connection: OpaquePointer
    private let address: DatabaseAddress
    private var prepared = PreparedStatements()
    private let warnings = Warnings()

    /// How long to wait for an answer.
    struct Patience {
        /// When to give up waiting, after which the connection can no longer be used; nil for never.
        var deadline: ContinuousClock.Instant?
        /// Called several times a second while there is no answer.
        var whileWaiting: () -> Void = {}
        /// Asked several times a second while there is no answer. If it returns true, the wait ends as at the deadline.
        var isOver: () -> Bool = { false }

        static func until(_ deadline: ContinuousClock.Instant) -> Patience { Patience(deadline: deadline) }
    }

    /// Connects to the server that accepts writes, among the servers of the address.
    /// - Parameter choice: The server to try first. Set to the server that accepts writes.
    /// - Throws: `DatabaseFailure.lost` with a sentence that says what to do.
    init(
        _ address: DatabaseAddress, by deadline: ContinuousClock.Instant, _ choice: ServerChoice = ServerChoice()
    ) throws(DatabaseFailure) {
        self.address = address
        connection = try Self.connect(address, by: deadline, choice)
        warnings.listen(to: connection)
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
            PQfinish(connection)
            throw .lost("libpq cannot send statements in pipelines. Install libpq 14 or later.")
        }
    }

    deinit {
        PQfinish(connection)
    }

    /// Runs one batch.
    /// - Returns: The rows of each statement.
    @discardableResult
    func run(_ batch: Batch, _ patience: Patience) throws(DatabaseFailure) -> [Rows] {
        try run([batch], patience)[0].get()
    }

    /// Runs batches that do not depend on each other. If one of them fails, the others still run.
    /// - Throws: `DatabaseFailure` if the connection can no longer be used.
    func run(
        _ batches: [Batch], _ patience: Patience
    ) throws(DatabaseFailure) -> [Result<[Rows], DatabaseFailure>] {
        warnings.begin()
        var awaited: [Awaited] = []
        for batch in batches {
            for call in batch.calls { try send(call, &awaited) }
            guard PQpipelineSync(connection) == 1 else { throw lost() }
            awaited.append(.end)
        }
        var results: [Result<[Rows], DatabaseFailure>] = []
        var rows: [Rows] = []
        var refusal: DatabaseFailure?
        for item in awaited {
            let answer = try answer(patience)
            switch (item, answer) {
            case (.end, .end):
                results.append(refusal.map { .failure($0) } ?? .success(rows))
                (rows, refusal) = ([], nil)
            case (.end, _), (_, .end): throw .corrupt("The answers of the database are not in the order of the calls.")
            case (.rows, .rows(let found)): rows.append(found)
            case (.nothing, .rows): break
            case (.preparation(let sql), .refused(let state)):
                prepared.forget(sql)
                refusal = refusal ?? .refused(state)
            case (.preparation(let sql), .skipped): prepared.forget(sql)
            case (.preparation, .rows): break
            case (.rows, .refused(let state)), (.nothing, .refused(let state)): refusal = refusal ?? .refused(state)
            case (.rows, .skipped), (.nothing, .skipped): break
            }
        }
        return results
    }

    /// True if the server sent a warning while the last batches ran. A COMMIT with a warning is stored on this server,
    /// but perhaps on no standby. So such a COMMIT does not count as a success.
    var hasWarned: Bool { warnings.hasAny }

    // MARK: Notifications

    /// The file descriptor to poll for notifications.
    var socket: Int32 { PQsocket(connection) }

    /// Returns the texts that other sessions have sent to the channels that this connection listens to, without
    /// waiting.
    func notifications() throws(DatabaseFailure) -> [String] {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
        let own = PQbackendPID(connection)
        var texts: [String] = []
        while let notification = PQnotifies(connection) {
            if notification.pointee.be_pid != own { texts.append(String(cString: notification.pointee.extra)) }
            PQfreemem(notification)
        }
        return texts
    }

    // MARK: Sending

    private enum Awaited {
        case rows
        case nothing
        case preparation(String)
        /// The end of a batch.
        case end
    }

    private func send(_ call: Batch.Call, _ awaited: inout [Awaited]) throws(DatabaseFailure) {
        let (statement, parameters) = (call.statement, call.parameters)
        let use = prepared.use(statement.sql)
        if let evicted = use.evicted {
            guard PQsendQueryParams(connection, "DEALLOCATE \(evicted)", 0, nil, nil, nil, nil, 1) == 1 else {
                throw lost()
            }
            awaited.append(.nothing)
        }
        if use.isNew {
            let types = statement.types.map(\.rawValue)
            guard PQsendPrepare(connection, use.name, statement.sql, Int32(types.count), types) == 1 else {
                throw lost()
            }
            awaited.append(.preparation(statement.sql))
        }
        let isSent = parameters.withValues { values, lengths, formats in
            PQsendQueryPrepared(connection, use.name, Int32(values.count), values, lengths, formats, 1) == 1
        }
        guard isSent else { throw lost() }
        awaited.append(.rows)
    }

    // MARK: Receiving

    private enum Answer {
        case rows(Rows)
        case refused(SQLState)
        case skipped
        case end
    }

    private func answer(_ patience: Patience) throws(DatabaseFailure) -> Answer {
        guard let result = try result(patience) else {
            throw PQstatus(connection) == CONNECTION_BAD ? lost() : .corrupt("The database did not answer a statement.")
        }
        let answer: Answer
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            return .end
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: answer = .rows(Rows(result))
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            answer = .skipped
        default:
            let code = PQresultErrorField(result, martlet_PG_DIAG_SQLSTATE).map { String(cString: $0) }
            PQclear(result)
            guard let code, PQstatus(connection) == CONNECTION_OK else { throw lost() }
            answer = .refused(SQLState(code))
        }
        // The result of each statement is followed by a null result.
        while let more = try self.result(patience) { PQclear(more) }
        return answer
    }

    private func result(_ patience: Patience) throws(DatabaseFailure) -> OpaquePointer? {
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost() }
            if PQisBusy(connection) == 0 { return PQgetResult(connection) }
            let events = Int16(POLLIN) | (unsent == 1 ? Int16(POLLOUT) : 0)
            try Self.wait(for: events, on: connection, patience)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    private func lost() -> DatabaseFailure {
        .lost("The connection to \(address) broke. It is made again.")
    }
}

// MARK: Connecting

extension Connection {
    private enum Attempt {
        case connected(OpaquePointer)
        /// The message of libpq.
        case failed(String)
    }

    /// Tries the servers of the address one after another, each for its share of the time that is left. libpq alone
    /// would wait until the deadline for a first server that does not answer, because its machine is off or hangs.
    private static func connect(
        _ address: DatabaseAddress, by deadline: ContinuousClock.Instant, _ choice: ServerChoice
    ) throws(DatabaseFailure) -> OpaquePointer {
        let servers = address.servers
        let first = choice.index
        var failures: [String] = []
        for tried in servers.indices {
            let index = (first + tried) % servers.count
            let share = (deadline - .now) / (servers.count - tried)
            switch try attempt(servers[index], by: .now + share) {
            case .connected(let connection):
                choice.index = index
                return connection
            case .failed(let message): failures.append(message)
            }
        }
        throw .lost(ConnectFailure(ofServers: failures).sentence(for: address))
    }

    private static func attempt(
        _ server: DatabaseAddress, by deadline: ContinuousClock.Instant
    ) throws(DatabaseFailure) -> Attempt {
        let parameters = server.complete()
        let names = parameters.map { strdup($0.name) }
        let values = parameters.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        let connection = PQconnectStartParams(
            names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
        guard let connection else { throw .lost("There is no memory left for a connection to the database.") }
        var isConnected = false
        defer { if !isConnected { PQfinish(connection) } }
        var turn = PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while turn != PGRES_POLLING_OK {
            do throws(DatabaseFailure) {
                switch turn {
                case PGRES_POLLING_READING: try wait(for: Int16(POLLIN), on: connection, .until(deadline))
                case PGRES_POLLING_WRITING: try wait(for: Int16(POLLOUT), on: connection, .until(deadline))
                default: return .failed(PQerrorMessage(connection).map { String(cString: $0) } ?? "")
                }
            } catch {
                return .failed("timeout expired")
            }
            turn = PQconnectPoll(connection)
        }
        isConnected = true
        return .connected(connection)
    }

    /// The interval at which `Patience.whileWaiting` is called.
    private static let tick = Duration.milliseconds(200)

    /// Waits until the socket can be read or written.
    private static func wait(
        for events: Int16, on connection: OpaquePointer, _ patience: Patience
    ) throws(DatabaseFailure) {
        while true {
            let left = patience.deadline.map { $0 - ContinuousClock.now }
            if let left, left <= .zero { throw .late }
            let milliseconds = min(left ?? tick, tick) / Duration.milliseconds(1)
            var socket = pollfd(fd: PQsocket(connection), events: events, revents: 0)
            let count = poll(&socket, 1, Int32(milliseconds.rounded(.up)))
            if count > 0 || (count < 0 && errno != EINTR) { return }
            patience.whileWaiting()
            if patience.isOver() { throw .late }
        }
    }
}
