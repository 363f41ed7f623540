public import MartletCore

extension SQLiteStorage {
    /// How many secrets one transaction seals again.
    private static let batchSize = 100

    /// Seals again, in small transactions, what was sealed with another key than the one that seals now. Others may read
    /// and write meanwhile, and what is interrupted goes on with the next call.
    /// - Parameter deadline: When to stop, between two transactions, as where the task is cancelled.
    /// - Returns: Whether all was gone through.
    /// - Throws: `StorageError` where something does not open with any key.
    public func reseal(before deadline: ContinuousClock.Instant) async throws(StorageError) -> Bool {
        try await finishWrites()
        for column in SealedColumn.all {
            guard try await reseal(column, before: deadline) else { return false }
        }
        return true
    }

    /// How many secrets are sealed with another key than the one that seals now.
    public func sealedOtherwise() async throws(StorageError) -> Int64 {
        try await finishWrites()
        return try await readers.read { [sealer] connection throws(StorageError) in
            var count: Int64 = 0
            for column in SealedColumn.all { count += try column.count(notMarked: sealer.mark, on: connection) }
            return count
        }
    }

    private func reseal(
        _ column: SealedColumn, before deadline: ContinuousClock.Instant
    ) async throws(StorageError) -> Bool {
        var last = Int64.min
        while true {
            let rows = try await readers.read { [sealer, last] connection throws(StorageError) in
                try column.rows(after: last, notMarked: sealer.mark, limit: Self.batchSize, on: connection)
            }
            guard let end = rows.last else { return true }
            guard .now < deadline, !Task.isCancelled else { return false }
            try await reseal(rows, of: column)
            last = end.id
        }
    }

    private func reseal(_ rows: [SealedColumn.Row], of column: SealedColumn) async throws(StorageError) {
        try await writer.write { [sealer] connection throws(StorageError) in
            for row in rows {
                guard let secret = sealer.open(row.sealed, context: row.context) else {
                    throw StorageError(
                        .corrupt,
                        "A secret in '\(column.table)' cannot be opened: the key that it was sealed with is missing.")
                }
                try column.replace(row, with: try sealer.seal(secret, context: row.context), on: connection)
            }
        }
    }

    /// What was sealed with another key a moment ago, and not stored yet, is stored when this returns.
    private func finishWrites() async throws(StorageError) {
        try await writer.write { _ in }
    }
}

extension SealedColumn {
    /// Every sealed column of the database.
    static let all =
        AccessRuleTable.sealedColumns + HubTable.sealedColumns + JobTable.sealedColumns + SealedText.sealedColumns
}
