import MartletCore

/// Runs the transaction of a group in two round trips. The first reads; then the group decides; the second writes and
/// commits.
struct Transaction {
    let shard: Shard
    let writer: Int64
    let number: Int64
    var order = LockOrder.beforeReads

    /// The reason why a group is not stored, or why it is not known to be stored.
    enum Failure {
        /// The transaction failed, and nothing of it is stored.
        case undone(DatabaseFailure)
        /// Rows that were read had changed before the writes. Nothing is stored.
        case stale
        /// The group threw this error when it decided. Nothing is stored.
        case refused(StorageError)
        /// The COMMIT was sent and not answered.
        case unknown
        /// The callers already have the error `unknown`: the COMMIT was not answered in time, or the server answered it
        /// with a warning.
        case answered
    }

    /// The error that callers get if it is not known whether their write is stored.
    static let unknown = StorageError(
        .unavailable,
        "The database did not say in time whether it stored this. Ask again with the same request: what was stored is "
            + "not stored twice. If this goes on, look for a missing standby.")

    /// Runs a group.
    /// - Parameters:
    ///   - isHopeless: Returns whether to give up waiting for a COMMIT whose callers already have the error `unknown`.
    ///     Called with the deadline at which they got it.
    ///   - whileWaiting: Called several times a second while the database does not answer.
    /// - Returns: nil if the group is stored.
    mutating func run<Group: ShardGroup>(
        _ group: inout Group, _ connection: Connection, _ patience: Duration,
        isHopeless: @escaping (ContinuousClock.Instant) -> Bool,
        whileWaiting: @escaping () -> Void
    ) -> Failure? {
        let deadline = ContinuousClock.now + patience
        var waiting = Connection.Patience(deadline: deadline, whileWaiting: whileWaiting)
        var batch: Batch
        do throws(DatabaseFailure) {
            switch try decide(&group, connection, waiting) {
            case .success(let writes?): batch = writes
            case .success(nil): return rolledBack(connection, waiting)
            case .failure(let error): return rolledBack(connection, waiting) ?? .refused(error)
            }
        } catch {
            return ended(by: error, connection, waiting)
        }
        batch.add(Self.recording) {
            $0.add(shard.number)
            $0.add(writer)
            $0.add(number)
        }
        batch.add(.commit)
        // A COMMIT that waits for a standby has no timeout on the server, and is never canceled. After a cancellation
        // it would count as successful, although only this server has stored it. At the deadline the callers get the
        // error `unknown`, and the COMMIT continues.
        let sent = group
        var isAnswered = false
        waiting.deadline = nil
        waiting.whileWaiting = {
            whileWaiting()
            guard !isAnswered, ContinuousClock.now >= deadline else { return }
            isAnswered = true
            sent.fail(Self.unknown)
        }
        waiting.isOver = { isAnswered && isHopeless(deadline) }
        do throws(DatabaseFailure) {
            try connection.run(batch, waiting)
            if isAnswered { return .answered }
            if connection.hasWarned {
                group.fail(Self.unknown)
                return .answered
            }
            return nil
        } catch {
            if isAnswered { return .answered }
            guard case .refused(let state) = error else { return .unknown }
            let end = ended(by: error, connection, waiting)
            if isAnswered { return .answered }
            if case .undone(.refused) = end, state == .stale { return .stale }
            return end
        }
    }

    /// Reads what the group needs and lets it decide.
    ///
    /// A group with nothing to write is committed too, with the record of its transaction alone. What it has read may be
    /// stored on this server only, because a session ended while its COMMIT waited for a standby. The record comes later
    /// in the server's log, so its COMMIT waits for that as well.
    /// - Returns: The statements to send before the COMMIT; nil if the shard does not exist and nothing is written.
    private func decide<Group: ShardGroup>(
        _ group: inout Group, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Result<Batch?, StorageError> {
        let reading = group.reading(in: shard)
        var batch = Batch()
        var numbers: Group.Numbers?
        var rows: [Rows]
        if order == .beforeReads {
            batch.add(.begin)
            batch.add(Group.Numbers.locking) { $0.add(shard.number) }
            batch.append(reading)
            rows = Array(try connection.run(batch, patience).dropFirst())
        } else {
            batch.add(Group.Numbers.reading) { $0.add(shard.number) }
            for call in reading.calls { batch.add(call.withDigests) }
            rows = try connection.run(batch, patience)
        }
        let found = rows.removeFirst()
        numbers = found.count == 1 ? Group.Numbers(found[0]) : nil
        let before = numbers
        let session = ShardSession(shard, connection, patience)
        var writes: Batch
        do throws(StorageError) {
            writes = try group.decide(rows, &numbers, in: session)
        } catch {
            if let failure = session.failure { throw failure }
            return .failure(error)
        }
        writes.append(session.takeWaiting())
        // In a group that locks before it reads, the session may have sent some of the writes already.
        let hasWrites = !writes.calls.isEmpty || numbers != before || session.hasSent
        guard hasWrites || before != nil else { return .success(nil) }
        var sent = Batch()
        if order == .beforeWrites { sent.add(.begin) }
        guard hasWrites else { return .success(sent) }
        if let before, let numbers {
            sent.add(Group.Numbers.claiming) {
                $0.add(shard.number)
                numbers.addClaim(since: before, to: &$0)
            }
        }
        if order == .beforeWrites {
            for (call, rows) in zip(reading.calls, rows) { sent.add(call.checking(rows)) }
        }
        sent.append(writes)
        return .success(sent)
    }

    /// Finds out whether this transaction is stored. If it is not stored, this call prevents it from being stored
    /// later.
    ///
    /// The server process of the lost connection may still have statements to run, and may still wait for the lock. So,
    /// under the lock, this call records a number in `writers` that is higher than the transaction's number. Then the
    /// server refuses the record of the transaction, and with it the whole transaction.
    ///
    /// A transaction that is stored may be on this server alone: its session may have ended, or the server may have been
    /// started again, while its COMMIT waited for a standby. So this call commits a record in that case too, and waits
    /// for it. The record comes after the transaction in the server's log (WAL). So a standby that has the record has the
    /// transaction too.
    /// - Parameter fence: A higher number of the same writer that no transaction has.
    func isStored<Numbers: ShardNumbers>(
        _ numbers: Numbers.Type, fence: Int64, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Bool {
        var batch = Batch(.begin)
        batch.add(Numbers.locking) { $0.add(shard.number) }
        batch.add(Self.reading) {
            $0.add(shard.number)
            $0.add(writer)
        }
        do throws(DatabaseFailure) {
            let rows = try connection.run(batch, patience)
            let isStored = rows[2].count == 1 && rows[2][0].integer(0) == number
            var end = Batch(Self.recording) {
                $0.add(shard.number)
                $0.add(writer)
                $0.add(fence)
            }
            end.add(.commit)
            try connection.run(end, patience)
            guard !connection.hasWarned else { throw .late }
            return isStored
        } catch {
            if !error.isOfConnection { _ = try connection.run([Batch(.rollback)], patience) }
            throw error
        }
    }

    private func rolledBack(_ connection: Connection, _ patience: Connection.Patience) -> Failure? {
        // With `.beforeWrites`, BEGIN is sent together with the writes, so there is no transaction yet.
        guard order == .beforeReads else { return nil }
        do throws(DatabaseFailure) {
            try connection.run(Batch(.rollback), patience)
            return nil
        } catch {
            return .undone(error)
        }
    }

    /// Ends a transaction in which a statement failed before the COMMIT. If the connection still works, the transaction
    /// is rolled back.
    private func ended(
        by failure: DatabaseFailure, _ connection: Connection, _ patience: Connection.Patience
    ) -> Failure {
        guard !failure.isOfConnection else { return .undone(failure) }
        do throws(DatabaseFailure) {
            // If no transaction is open, the ROLLBACK only gives a warning.
            try connection.run(Batch(.rollback), patience)
            return .undone(failure)
        } catch {
            return .undone(error)
        }
    }

    private static let recording = Statement.hot(
        [.int4, .int8, .int8],
        """
        WITH recorded AS (
            INSERT INTO writers (shard, writer, transaction) VALUES ($1, $2, $3)
            ON CONFLICT (shard, writer) DO UPDATE SET transaction = excluded.transaction
                WHERE writers.transaction < excluded.transaction
            RETURNING 1
        )
        SELECT 1 / count(*)::int4 FROM recorded
        """)

    private static let reading = Statement.hot(
        [.int4, .int8], "SELECT transaction FROM writers WHERE shard = $1 AND writer = $2")
}

// MARK: Checking what was read

extension Batch.Call {
    /// The same statement, with a hash of each row as an additional last column.
    var withDigests: Batch.Call {
        var call = self
        call.statement = Statement(
            sql: "SELECT t.*, hash_record_extended(t, 0) FROM (\(statement.sql)) t", types: statement.types)
        return call
    }

    /// Returns a statement that fails with `SQLState.stale` unless this call's statement still returns the same rows.
    /// - Parameter rows: The rows of `withDigests`.
    func checking(_ rows: Rows) -> Batch.Call {
        let count = statement.types.count
        var call = self
        call.statement = Statement(
            sql: """
                SELECT 1 / (count(*) = $\(count + 1) AND coalesce(bit_xor(hash_record_extended(t, 0)), 0)
                    = $\(count + 2))::int4
                FROM (\(statement.sql)) t
                """, types: statement.types + [.int8, .int8])
        call.parameters.add(Int64(rows.count))
        call.parameters.add(
            (0..<rows.count).reduce(Int64(0)) { $0 ^ rows[$1].integer(Int32(rows.columnCount - 1)) })
        return call
    }
}

extension DatabaseFailure {
    /// True if the same transaction may succeed when it is run again.
    var isTransient: Bool {
        if case .refused(let state) = self { state.isTransient } else { false }
    }
}
