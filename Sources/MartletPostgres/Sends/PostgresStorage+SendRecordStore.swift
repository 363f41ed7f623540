public import MartletCore
public import MartletModel

extension PostgresStorage: SendRecordStore {
    public func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord? {
        let batch = Batch(SendStatements.find) {
            $0.add(key)
            $0.add(now + (.zero - RequestIdentity.lifetime))
        }
        return try SendRecord(try await read(batch)[0], key: key)
    }

    public func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord {
        let (key, start) = (record.request.key, record.startedAt)
        let rows = try await transaction { connection, patience throws(DatabaseFailure) in
            // If two equal requests arrive at the same time, the second waits for the first, because both insert the
            // same key. Then the second finds the record of the first.
            var batch = Batch(SendStatements.add) {
                $0.add(key)
                $0.add(record.request.fingerprint)
                $0.add(record.payloads.map { $0.map(\.description) ?? "" })
                $0.add(start)
                $0.add(record.isComplete)
                $0.add(start + (.zero - RequestIdentity.lifetime))
            }
            batch.add(SendStatements.find) {
                $0.add(key)
                $0.add(start + (.zero - RequestIdentity.lifetime))
            }
            return try connection.run(batch, patience)[1]
        }
        return try SendRecord(rows, key: key) ?? record
    }

    public func completeSend(_ key: [UInt8]) async throws(StorageError) {
        _ = try await change(SendStatements.complete) { $0.add(key) }
    }

    public func removeSendRecord(_ key: [UInt8]) async throws(StorageError) {
        _ = try await change(SendStatements.remove) { $0.add(key) }
    }
}

extension SendRecord {
    fileprivate init?(_ rows: Rows, key: [UInt8]) throws(StorageError) {
        guard rows.count == 1 else { return nil }
        var payloads: [PayloadID?] = []
        for text in rows[0].texts(1) {
            let id = PayloadID(text)
            guard text.isEmpty || id != nil else {
                throw StorageError(.corrupt, "A stored send cannot be read; restore a backup.")
            }
            payloads.append(id)
        }
        self.init(
            RequestIdentity(key: key, fingerprint: rows[0].bytes(0)), payloads: payloads,
            startedAt: rows[0].timestamp(2), isComplete: rows[0].bool(3))
    }
}

extension PostgresStorage: MetricHourStore {
    public func putHour(_ hour: Timestamp, figures: String) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(SendStatements.putHour) {
                $0.add(hour)
                $0.add(figures)
            }
            batch.add(SendStatements.limitHours)
            try connection.run(batch, patience)
        }
    }

    public func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)] {
        let rows = try await read(Batch(SendStatements.hours) { $0.add(timestamp) })[0]
        return (0..<rows.count).map { (rows[$0].timestamp(0), rows[$0].text(1)) }
    }
}

enum SendStatements {
    static let find = Statement.rare(
        [.bytes, .int8],
        "SELECT fingerprint, payloads, started_at, is_complete FROM sends WHERE key = $1 AND started_at > $2")

    /// Adds a record, unless there is one with the same key whose retention period has not ended.
    static let add = Statement.rare(
        [.bytes, .bytes, .texts, .int8, .bool, .int8],
        """
        INSERT INTO sends AS s (key, fingerprint, payloads, started_at, is_complete) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, payloads = excluded.payloads,
            started_at = excluded.started_at, is_complete = excluded.is_complete
        WHERE s.started_at <= $6
        """)
    static let complete = Statement.rare([.bytes], "UPDATE sends SET is_complete = true WHERE key = $1")
    static let remove = Statement.rare([.bytes], "DELETE FROM sends WHERE key = $1")
    static let putHour = Statement.rare(
        [.int8, .text],
        """
        INSERT INTO metric_hours (hour, figures) VALUES ($1, $2) ON CONFLICT (hour) DO UPDATE SET figures = excluded.figures
        """)
    /// Removes all hours except the newest 840, which are five weeks.
    static let limitHours = Statement.rare(
        [],
        """
        DELETE FROM metric_hours WHERE hour <= (SELECT hour FROM metric_hours ORDER BY hour DESC LIMIT 1 OFFSET 840)
        """)
    static let hours = Statement.rare(
        [.int8], "SELECT hour, figures FROM metric_hours WHERE hour >= $1 ORDER BY hour")
}
