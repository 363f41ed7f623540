import Glibc
import MartletCore

/// The first steps of a move of data on a connection: connecting, locking the database, and checking it.
enum MoveSession {
    /// Runs statements, and converts their failure to a `StorageError`.
    @discardableResult
    static func attempt<Value>(_ work: () throws(DatabaseFailure) -> Value) throws(StorageError) -> Value {
        do throws(DatabaseFailure) {
            return try work()
        } catch {
            throw error.storageError
        }
    }

    /// How long a database may take to be connected to and to be checked.
    private static let checkPatience = Duration.seconds(20)

    /// Connects to a database that this program can use, and that completes a COMMIT.
    /// - Parameter interruption: Can break the connection from another thread.
    /// - Returns: The connection, and the state of the schema in the database.
    static func open(
        _ address: DatabaseAddress, _ schema: String, breakable interruption: ConnectionBreak? = nil
    ) throws(StorageError) -> (connection: BulkConnection, state: Migrator.State) {
        let settings = ConnectionSettings(address: address, schema: schema, patience: checkPatience)
        let (first, fault, state) = try attempt { () throws(DatabaseFailure) in
            let connection = try settings.connect()
            let patience = Connection.Patience.until(.now + settings.patience)
            let check = try ServerCheck(connection, patience)
            let migrator = Migrator(migrations: Migration.all, schema: schema)
            return (connection, check.fault(of: address), try migrator.state(connection, patience))
        }
        if let fault { throw fault }
        try checkCommit(first, address)
        let connection = try attempt { () throws(DatabaseFailure) in
            try BulkConnection(
                address,
                [
                    ("search_path", schema), ("statement_timeout", "0"), ("lock_timeout", "10s"),
                    ("idle_in_transaction_session_timeout", "0"), ("timezone", "UTC"), ("jit", "off"),
                    ("maintenance_work_mem", "256MB"), ("work_mem", "64MB"),
                    ("application_name", BulkConnection.applicationName),
                    // With these, the server notices that the machine of the move is gone, and releases its locks.
                    ("client_connection_check_interval", "2s"), ("tcp_keepalives_idle", "5"),
                    ("tcp_keepalives_interval", "2"), ("tcp_keepalives_count", "3"),
                ], breakable: interruption)
        }
        return (connection, state)
    }

    /// Keeps nodes from joining, from renewing their leases and from writing devices and sends, until the end of the
    /// transaction. Without this lock, a node that was suspended until its lease had ended could continue in the middle
    /// of a move. Programs that only read, such as `pg_dump`, are not blocked.
    static func lockTables(_ connection: BulkConnection) throws(StorageError) {
        try attempt { () throws(DatabaseFailure) in
            try connection.run("LOCK TABLE nodes, ordinals, send_ordinals IN EXCLUSIVE MODE")
        }
    }

    /// Throws an error if the data of the database was moved elsewhere.
    static func checkMark(_ connection: BulkConnection, _ schema: String) throws(StorageError) {
        let place = try attempt { () throws(DatabaseFailure) in
            try connection.run(MovedAway.stored)[0].optionalText(0)
        }
        if let place { throw MovedAway.refusal(place, schema) }
    }

    /// Throws an error if the database is one of several clusters with hubs. A move of all data knows of one database.
    static func checkClusters(_ connection: BulkConnection) throws(StorageError) {
        let (isFirst, hubs) = try attempt { () throws(DatabaseFailure) in
            let row = try connection.run(clusters)[0]
            return (row.bool(0), row.integer(1))
        }
        guard isFirst else {
            throw StorageError(
                .unavailable, "The database is a cluster of a server whose first cluster is another. Name that one.")
        }
        guard hubs == 0 else {
            throw StorageError(
                .unavailable,
                "\(hubs) hubs are on other clusters. Move them to the first cluster before: martlet hub move HUB --cluster 1."
            )
        }
    }

    private static let clusters = Statement.rare(
        [], "SELECT cluster = 1, (SELECT count(*) FROM hubs WHERE cluster <> 1 OR move IS NOT NULL) FROM namespace")

    /// Keeps nodes from starting, until the end of the transaction.
    static func lock(_ connection: BulkConnection, _ schema: String) throws(StorageError) {
        let isLocked = try attempt { () throws(DatabaseFailure) in
            let key = Migrator(migrations: Migration.all, schema: schema).lockKey
            return try connection.run(tryLock) { $0.add(key) }[0].bool(0)
        }
        guard isLocked else {
            throw StorageError(
                .unavailable, "Another move uses the database, or a node is starting. Wait for it, and try again.")
        }
    }

    /// Throws an error if a node serves the database.
    static func checkNodes(_ connection: BulkConnection) throws(StorageError) {
        let names = try attempt { () throws(DatabaseFailure) in
            let rows = try connection.run(liveNodes)
            return (0..<rows.count).map { rows[$0].text(0) }
        }
        guard names.isEmpty else {
            throw StorageError(
                .unavailable,
                "The database is served by \(names.joined(separator: ", ")): stop all nodes first. A node that was killed "
                    + "counts for ten seconds more.")
        }
    }

    /// Throws an error if the secrets of the database were sealed with another key.
    /// - Parameter refusal: The sentence of the error.
    static func checkKey(
        _ connection: BulkConnection, _ sealer: any Sealer, otherwise refusal: String
    ) throws(StorageError) {
        let sealed = try attempt { () throws(DatabaseFailure) in
            try connection.run(.rare([], "SELECT sealed_check FROM namespace"))[0].optionalBytes(0)
        }
        guard let sealed, !KeyCheck.isOf(sealer, sealed) else { return }
        throw StorageError(.unavailable, refusal)
    }

    // MARK: Completing a COMMIT

    /// Throws an error if the database does not complete a COMMIT, because it waits for a synchronous standby that is
    /// missing, for example. A move is one transaction, so without this check nothing would notice that until its end,
    /// when the source is marked and the server is stopped.
    static func checkCommit(_ address: DatabaseAddress, _ schema: String) throws(StorageError) {
        let settings = ConnectionSettings(address: address, schema: schema, patience: checkPatience)
        try checkCommit(try attempt { () throws(DatabaseFailure) in try settings.connect() }, address)
    }

    private static func checkCommit(_ connection: Connection, _ address: DatabaseAddress) throws(StorageError) {
        let isComplete = try attempt { () throws(DatabaseFailure) in
            try commitsMessage(connection, .until(.now + checkPatience))
        }
        guard isComplete else {
            throw StorageError(
                .unavailable,
                "PostgreSQL does not complete a COMMIT in \(address): look for a missing standby "
                    + "(synchronous_standby_names). Nothing was changed.")
        }
    }

    /// Commits a message in the server's log (WAL), which changes nothing. Its COMMIT waits for a synchronous standby,
    /// which the COMMIT of a transaction that writes nothing to the log does not.
    ///
    /// No timeout of the server ends that wait. So if the call gives up, a session is left that ends when a standby has
    /// the message. It holds no locks.
    /// - Returns: False if the COMMIT was not answered in time, or if no standby may have the message.
    private static func commitsMessage(
        _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Bool {
        var batch = Batch(.begin)
        batch.add(flushing)
        batch.add(message)
        batch.add(.commit)
        do throws(DatabaseFailure) {
            try connection.run(batch, patience)
            return !connection.hasWarned
        } catch .late {
            return false
        }
    }

    // MARK: Committing

    /// How long an interrupted commit is looked for.
    private static let commitPatience = Duration.seconds(30)
    /// How long one question about it waits for the server, which may hang.
    private static let questionPatience = Duration.seconds(5)

    /// Commits the transaction. When the call returns true, the transaction has been flushed to disk, also to that of a
    /// synchronous standby if there must be one, whatever `synchronous_commit` says for other transactions: a mark that a
    /// crash removes again would let both ends of a move be served.
    ///
    /// If the connection breaks, or if the COMMIT was canceled while it waited for a standby, connects again and asks
    /// for the outcome.
    /// - Returns: False if it is not known whether the transaction is committed, or if no standby has it.
    /// - Throws: `DatabaseFailure` if the transaction was rolled back.
    static func commit(_ connection: BulkConnection) throws(DatabaseFailure) -> Bool {
        try connection.run(flushing)
        let id = try connection.run(.rare([], "SELECT pg_current_xact_id()::text"))[0].text(0)
        let line = try connection.run(timeline)[0].text(0)
        var failure = DatabaseFailure.late
        do throws(DatabaseFailure) {
            try connection.run("COMMIT")
            guard connection.hasWarned else { return true }
        } catch  where error.isOfConnection {
            failure = error
        }
        let deadline = ContinuousClock.now + commitPatience
        while ContinuousClock.now < deadline {
            switch try? outcome(of: id, connection.address, line, by: deadline) {
            case .committed: return true
            case .rolledBack: throw failure
            case .unknown: return false
            // The server is not there, its process for the lost connection is not done, or no standby has the
            // transaction. Nothing tells when that changes, and the thread has no other work, so it sleeps between two
            // questions.
            case .running, nil: usleep(200_000)
            }
        }
        return false
    }

    private enum Outcome {
        case committed, rolledBack, running, unknown
    }

    /// Asks for the outcome of a transaction.
    ///
    /// A committed transaction may be on this server alone: the server may have been started again, or the COMMIT
    /// canceled, while it waited for a standby. So this call commits a message, which comes after the transaction in the
    /// server's log. A standby that has the message has the transaction too.
    /// - Parameters:
    ///   - line: The timeline of the transaction. After a failover, the same number can be that of another transaction.
    ///   - end: How long to wait for a standby.
    private static func outcome(
        of transaction: String, _ address: DatabaseAddress, _ line: String, by end: ContinuousClock.Instant
    ) throws(DatabaseFailure) -> Outcome {
        let deadline = ContinuousClock.now + questionPatience
        let connection = try Connection(address, by: deadline)
        let present = try connection.run(Batch(timeline), .until(deadline))[0]
        guard present[0].text(0) == line else { return .unknown }
        let status = try connection.run(Batch(status) { $0.add(transaction) }, .until(deadline))[0]
        return switch status[0].optionalText(0) {
        case "committed": try commitsMessage(connection, .until(end)) ? .committed : .running
        case "aborted": .rolledBack
        case "in progress": .running
        default: .unknown
        }
    }

    private static let flushing = Statement.rare(
        [],
        """
        SELECT set_config('synchronous_commit', 'on', true)
        WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
        """)
    private static let message = Statement.rare([], "SELECT pg_logical_emit_message(true, 'martlet', '')")
    private static let timeline = Statement.rare([], "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)")
    private static let status = Statement.rare([.text], "SELECT pg_xact_status($1::xid8)")
    private static let tryLock = Statement.rare([.int8], "SELECT pg_try_advisory_xact_lock($1)")
    private static let liveNodes = Statement.rare(
        [],
        """
        SELECT convert_from(name, 'UTF8') FROM nodes WHERE NOT is_dead AND until > clock_timestamp() ORDER BY name
        """)
}

extension Migrator.State {
    /// The reason why data cannot be moved from or to this schema; nil if it can be moved.
    var refusalToMove: StorageError? {
        switch self {
        case .none, .current: nil
        case .older:
            StorageError(
                .unavailable,
                "The schema of the database is that of an earlier version. Start a node of this version once, stop it, and "
                    + "try again.")
        case .unusable(let error): error
        }
    }
}
