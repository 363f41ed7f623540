public import MartletCore

extension SQLiteStorage {
    /// The number of secrets that one transaction seals again.
    private static let batchSize = 100

    /// Encrypts ("seals") again all secrets that were sealed with a key other than the current one. The call uses small
    /// transactions, and other callers may read and write meanwhile. If the call is interrupted, the next call
    /// continues.
    /// - Parameter deadline: The time after which no further transaction begins. The call also stops if the task is
    ///   cancelled.
    /// - Returns: Whether all secrets were processed.
    /// - Throws: `StorageError` if a secret cannot be opened with any key.
    public func reseal(before deadline: ContinuousClock.Instant) async throws(StorageError) -> Bool {
        try await finishWrites()
        for column in SealedColumn.all {
            guard try await reseal(column, before: deadline) else { return false }
        }
        return true
    }

    /// Returns the number of secrets that are sealed with a key other than the current one.
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

    /// Waits until the writes that were submitted before this call are stored, because they may have sealed secrets
    /// with another key.
    private func finishWrites() async throws(StorageError) {
        try await writer.write { _ in }
    }
}

extension SealedColumn {
    /// Every sealed column of the database.
    static let all =
        AccessRuleTable.sealedColumns + HubTable.sealedColumns + JobTable.sealedColumns + SealedText.sealedColumns
        + FactorTable.sealedColumns
}
