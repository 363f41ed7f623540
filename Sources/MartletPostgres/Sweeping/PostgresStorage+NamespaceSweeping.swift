import MartletCore
import MartletModel

extension PostgresStorage {
    /// Removes expired sessions, records of sends, entries of the audit, and payloads, in portions; other writes can
    /// happen in between. Any number of nodes may call this at the same time. Returns early if its task is cancelled.
    /// - Parameter removeBody: Removes the body of a payload, if it exists. If this fails, the payload is kept until
    ///   the next sweep.
    /// - Throws: `StorageError`, also if a body could not be removed; then all other payloads have been removed.
    func sweepNamespace(
        at now: Timestamp, keeping retention: Retention = Retention(),
        removeBody: (String) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        let portions = [
            Batch.portion(SweepStatements.sessions) { $0.add(now) },
            .portion(SweepStatements.sends) { $0.add(now + (.zero - RequestIdentity.lifetime)) },
            .portion(PayloadAuditStatements.removeOld) { $0.add(now + (.zero - retention.audit)) },
            .portion(PayloadAuditStatements.removeRefusals) { $0.add(Int64(retention.refusalLimit)) },
        ]
        for portion in portions {
            var count = SweepStatements.limit
            while count >= SweepStatements.limit, !Task.isCancelled {
                count = try await transaction { connection, patience throws(DatabaseFailure) in
                    try connection.run(portion, patience)[0].changes
                }
            }
        }
        try await removeExpiredPayloads(at: now, removeBody)
    }

    private func removeExpiredPayloads(
        at now: Timestamp, _ removeBody: (String) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        // A payload that was not published within this time will never be published.
        _ = try await change(SweepStatements.expireUnpublished) { $0.add(now + (.zero - SweepStatements.patience)) }
        var failure: StorageError?
        var last: ExpiredPayload?
        while !Task.isCancelled {
            let page = try await expiredPayloads(at: now, after: last)
            guard !page.isEmpty else { break }
            last = page.last
            var bodiless: [Int32] = []
            for payload in page {
                do throws(StorageError) {
                    if let body = payload.body { try await removeBody(body) }
                    bodiless.append(payload.id)
                } catch {
                    failure = error
                }
            }
            try await remove(bodiless)
        }
        if let failure { throw failure }
    }

    private struct ExpiredPayload {
        let id: Int32
        let body: String?
        let expiresAt: Timestamp
    }

    private func expiredPayloads(
        at now: Timestamp, after last: ExpiredPayload?
    ) async throws(StorageError) -> [ExpiredPayload] {
        let batch = Batch(SweepStatements.expired) {
            $0.add(now)
            $0.add(last?.expiresAt ?? Timestamp(milliseconds: .min))
            $0.add(last?.id ?? 0)
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { index in
            ExpiredPayload(
                id: rows[index].integer32(0), body: rows[index].optionalText(1), expiresAt: rows[index].timestamp(2))
        }
    }

    /// Removes payloads. The rows of their addressees are removed first and in portions, because a broadcast can have a
    /// million such rows.
    private func remove(_ payloads: [Int32]) async throws(StorageError) {
        guard !payloads.isEmpty else { return }
        for statement in [SweepStatements.receipts, SweepStatements.addressees] {
            var count = SweepStatements.rowLimit
            while count >= SweepStatements.rowLimit {
                count = try await transaction { connection, patience throws(DatabaseFailure) in
                    try connection.run(Batch(statement) { $0.add(payloads) }, patience)[0].changes
                }
            }
        }
        try await transaction { connection, patience throws(DatabaseFailure) in
            // Only one such transaction runs at a time, so that two of them cannot deadlock at the totals of senders.
            var batch = Batch(SweepStatements.lock)
            batch.add(SweepStatements.payloads) { $0.add(payloads) }
            let totals = try connection.run(batch, patience)[1]
            let empty = (0..<totals.count).filter { totals[$0].integer(1) <= 0 }.map { totals[$0].bytes(0) }
            try connection.run(Batch(SweepStatements.totals) { $0.add(empty) }, patience)
        }
    }
}

extension Batch {
    /// Returns a call of a statement that removes a portion. The last parameter is the maximum number of rows to
    /// remove.
    fileprivate static func portion(_ statement: Statement, _ fill: (inout Parameters) -> Void) -> Batch {
        Batch(statement) {
            fill(&$0)
            $0.add(Int64(SweepStatements.limit))
        }
    }
}

enum SweepStatements {
    /// The maximum number of rows per portion.
    static let limit = 500
    /// The maximum number of payloads per page, and the maximum number of their addressees' rows per portion.
    static let pageLimit = 100
    static let rowLimit = 1000
    /// The maximum time between adding a payload and publishing it. After that, an unpublished payload expires.
    static let patience = Duration.seconds(86_400)

    static let sessions = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM sessions WHERE token_hash = ANY(ARRAY(
            SELECT token_hash FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)
    static let sends = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM sends WHERE key = ANY(ARRAY(
            SELECT key FROM sends WHERE started_at <= $1 ORDER BY started_at LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)

    // MARK: Payloads

    static let expireUnpublished = Statement.rare(
        [.int8], "UPDATE payloads SET expires_at = 0 WHERE NOT is_published AND created_at <= $1 AND expires_at > 0")
    static let expired = Statement.rare(
        [.int8, .int8, .int4],
        """
        SELECT id, body, expires_at FROM payloads WHERE expires_at <= $1 AND (expires_at, id) > ($2, $3)
        ORDER BY expires_at, id LIMIT \(pageLimit)
        """)

    private static func removal(of table: String) -> Statement {
        .rare(
            [.int4s],
            """
            DELETE FROM \(table) WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM \(table) WHERE payload = ANY($1) LIMIT \(rowLimit) FOR UPDATE SKIP LOCKED))
            """)
    }

    static let receipts = removal(of: "payload_receipts")
    static let addressees = removal(of: "addressees")
    static let lock = Statement.rare([], "SELECT 1 FROM namespace FOR UPDATE")
    /// Removes payloads whose other rows have been removed, and subtracts their sizes from the totals of their senders.
    static let payloads = Statement.rare(
        [.int4s],
        """
        WITH removed AS (DELETE FROM payloads WHERE id = ANY($1) RETURNING sender, size + \(StoredPayload.recordSize) AS size),
            sums AS (SELECT sender, sum(size)::int8 AS size FROM removed GROUP BY sender)
        UPDATE payload_totals t SET size = t.size - s.size FROM sums s WHERE t.sender = s.sender
        RETURNING t.sender, t.size
        """)
    static let totals = Statement.rare(
        [.bytesArray], "DELETE FROM payload_totals WHERE sender = ANY($1) AND size <= 0")
}
