import MartletCore

/// One transaction of a group: it locks its shard, reads, decides, writes and commits, in two round trips.
struct Transaction {
    let shard: Shard
    let writer: Int64
    let number: Int64

    /// Why a group is not stored, as far as is known.
    enum Failure {
        /// Nothing of it stands.
        case undone(DatabaseFailure)
        /// The rules refused to go on; nothing of it stands.
        case refused(StorageError)
        /// The COMMIT was sent and not answered.
        case unknown
        /// The callers were told that nobody knows, and the COMMIT went on being waited for.
        case answered
    }

    /// What callers hear where it is not known whether a write is stored.
    static let unknown = StorageError(
        .unavailable,
        "The database did not say in time whether it stored this. Ask again with the same request: what was stored is "
            + "not stored twice. If this goes on, look for a missing standby.")

    /// Runs a group.
    /// - Parameter whileWaiting: Called several times a second while the database does not answer.
    /// - Returns: Nil if the group is stored.
    mutating func run<Group: ShardGroup>(
        _ group: inout Group, _ connection: Connection, _ patience: Duration, whileWaiting: @escaping () -> Void
    ) -> Failure? {
        let deadline = ContinuousClock.now + patience
        var waiting = Connection.Patience(deadline: deadline, whileWaiting: whileWaiting)
        var batch = Batch(.begin)
        batch.add(Ordinals.locking) { $0.add(shard.number) }
        batch.append(group.reading(in: shard))
        let writes: Batch
        do throws(DatabaseFailure) {
            let rows = try connection.run(batch, waiting)
            var ordinals = rows[1].count == 1 ? Ordinals(rows[1][0]) : nil
            let before = ordinals
            do throws(StorageError) {
                writes = try group.decide(Array(rows.dropFirst(2)), &ordinals, in: shard)
            } catch {
                return rolledBack(connection, waiting) ?? .refused(error)
            }
            guard !writes.calls.isEmpty || ordinals != before else { return rolledBack(connection, waiting) }
            batch = writes
            if let ordinals {
                batch.add(Ordinals.updating) {
                    $0.add(shard.number)
                    ordinals.add(to: &$0)
                }
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
        // A COMMIT that waits for a standby has no timeout on the server, and is never canceled: that would make a
        // success of it that only this server knows. Its callers get an answer in time.
        let sent = group
        var isAnswered = false
        waiting.deadline = nil
        waiting.whileWaiting = {
            whileWaiting()
            guard !isAnswered, ContinuousClock.now >= deadline else { return }
            isAnswered = true
            sent.fail(Self.unknown)
        }
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
            guard case .refused = error else { return .unknown }
            return ended(by: error, connection, waiting)
        }
    }

    /// Reads whether this transaction is stored.
    ///
    /// The lost connection's server process may still have statements to run. It has held the numbers of the shard since
    /// the first of its batches, so whoever gets them comes after its end.
    func isStored(_ connection: Connection, _ patience: Connection.Patience) throws(DatabaseFailure) -> Bool {
        var batch = Batch(.begin)
        batch.add(Ordinals.locking) { $0.add(shard.number) }
        batch.add(Self.reading) {
            $0.add(shard.number)
            $0.add(writer)
        }
        let rows: [Rows]
        do throws(DatabaseFailure) {
            rows = try connection.run(batch, patience)
        } catch {
            if !error.isOfConnection { _ = try connection.run([Batch(.rollback)], patience) }
            throw error
        }
        try connection.run(Batch(.rollback), patience)
        return rows[2].count == 1 && rows[2][0].integer(0) >= number
    }

    private func rolledBack(_ connection: Connection, _ patience: Connection.Patience) -> Failure? {
        do throws(DatabaseFailure) {
            try connection.run(Batch(.rollback), patience)
            return nil
        } catch {
            return .undone(error)
        }
    }

    /// The end of a transaction in which a statement was refused before COMMIT.
    private func ended(
        by failure: DatabaseFailure, _ connection: Connection, _ patience: Connection.Patience
    ) -> Failure {
        guard !failure.isOfConnection else { return .undone(failure) }
        return rolledBack(connection, patience) ?? .undone(failure)
    }

    private static let recording = Statement.hot(
        [.int4, .int8, .int8],
        """
        INSERT INTO writers (shard, writer, transaction) VALUES ($1, $2, $3)
        ON CONFLICT (shard, writer) DO UPDATE SET transaction = excluded.transaction
        """)

    private static let reading = Statement.hot(
        [.int4, .int8], "SELECT transaction FROM writers WHERE shard = $1 AND writer = $2")
}

extension DatabaseFailure {
    /// True if the same transaction may succeed when it is run again.
    var isTransient: Bool {
        if case .refused(let state) = self { state.isTransient } else { false }
    }
}
