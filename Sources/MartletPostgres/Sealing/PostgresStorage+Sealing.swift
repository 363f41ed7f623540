public import MartletCore

extension PostgresStorage {
    /// Seals all secrets that are sealed with an earlier key with the current key. It uses small transactions, so other
    /// callers may read and write meanwhile, and other nodes may reseal at the same time. If the call is interrupted,
    /// the next call continues with the secrets that are left. All nodes must have the new key before the first call.
    /// - Parameter deadline: The time from which the call begins no further transaction. The call also stops if the
    ///   task is cancelled.
    /// - Returns: Whether all secrets were processed.
    /// - Throws: `StorageError` if a secret cannot be opened with any key.
    public func reseal(before deadline: ContinuousClock.Instant) async throws(StorageError) -> Bool {
        for id in try await hubsSealedOtherwise() {
            guard .now < deadline, !Task.isCancelled else { return false }
            try await reseal(id)
        }
        for column in SealedColumn.all {
            let blocks = try await read(Batch(column.size))[0][0].integer(0)
            for block in stride(from: 0, to: blocks, by: SealedColumn.pageBlocks) {
                guard .now < deadline, !Task.isCancelled else { return false }
                try await reseal(column, from: block)
            }
        }
        return true
    }

    /// Returns the number of secrets that are sealed with a key other than the current one. All secrets of a hub count
    /// as one, and all secrets of the namespace count as one.
    public func sealedOtherwise() async throws(StorageError) -> Int64 {
        var count = Int64(try await hubsSealedOtherwise().count)
        for column in SealedColumn.all {
            let batch = Batch(column.count) {
                $0.add(Int32(sealer.mark.count))
                $0.add(sealer.mark)
            }
            count += try await read(batch)[0][0].integer(0)
        }
        return count
    }

    private func reseal(_ column: SealedColumn, from block: Int64) async throws(StorageError) {
        let batch = Batch(column.page) {
            $0.add("(\(block),0)")
            $0.add("(\(block + Int64(SealedColumn.pageBlocks)),0)")
            $0.add(Int32(sealer.mark.count))
            $0.add(sealer.mark)
        }
        let rows = try await readPage(batch)[0]
        var writes = Batch()
        for index in 0..<rows.count {
            let (place, sealed, context) = (rows[index].text(0), rows[index].bytes(1), rows[index].text(2))
            guard let secret = sealer.open(sealed, context: context) else {
                throw StorageError(
                    .corrupt,
                    "A secret in '\(column.table)' cannot be opened: the key that it was sealed with is missing.")
            }
            let resealed = try sealer.seal(secret, context: context)
            writes.add(column.replace) {
                $0.add(place)
                $0.add(sealed)
                $0.add(resealed)
            }
        }
        guard !writes.calls.isEmpty else { return }
        try await transaction { [writes] connection, patience throws(DatabaseFailure) in
            _ = try connection.run(writes, patience)
        }
    }

    // MARK: Settings

    /// Returns the hubs with secrets that are sealed with a key other than the current one; nil stands for the
    /// namespace.
    private func hubsSealedOtherwise() async throws(StorageError) -> [Int64?] {
        var batch = Batch(SealingStatements.hubs)
        batch.add(SealingStatements.namespace)
        let rows = try await read(batch)
        let coding = HubCoding(sealer: sealer)
        var found: [Int64?] = []
        for index in 0..<rows[0].count where coding.isSettingsSealedOtherwise(rows[0][index].bytes(1)) {
            found.append(rows[0][index].integer(0))
        }
        if rows[1].count == 1, let rules = rows[1][0].optionalBytes(0), coding.isRulesSealedOtherwise(rules) {
            found.append(nil)
        }
        return found
    }

    private func reseal(_ hub: Int64?) async throws(StorageError) {
        let coding = HubCoding(sealer: sealer)
        let result = try await transaction {
            connection, patience throws(DatabaseFailure) -> Result<Void, StorageError> in
            let locking =
                hub.map { id in Batch(HubStatements.lockHub) { $0.add(id) } }
                ?? Batch(HubStatements.lockNamespace)
            let rows = try connection.run(locking, patience)[0]
            guard rows.count == 1, let bytes = rows[0].optionalBytes(0) else { return .success(()) }
            let resealed: [UInt8]
            do throws(StorageError) {
                resealed = try coding.resealed(bytes, of: hub.map { Hub.ID(rawValue: $0) })
            } catch {
                return .failure(error)
            }
            let writing =
                hub.map { id in
                    Batch(SealingStatements.setSettings) {
                        $0.add(id)
                        $0.add(resealed)
                    }
                } ?? Batch(HubStatements.setRules) { $0.add(resealed) }
            try connection.run(writing, patience)
            return .success(())
        }
        try result.get()
    }
}

extension HubCoding {
    func isRulesSealedOtherwise(_ bytes: [UInt8]) -> Bool {
        var reader = ByteListReader(bytes)
        while !reader.isAtEnd {
            // The name, the rights and two times come before the keys.
            for _ in 0..<4 { _ = reader.bytes() }
            for _ in AccessRule.KeyKind.allCases {
                guard let sealed = reader.bytes() else { return false }
                if !sealed.starts(with: sealer.mark) { return true }
            }
        }
        return false
    }

    func isSettingsSealedOtherwise(_ bytes: [UInt8]) -> Bool {
        var reader = ByteListReader(bytes)
        _ = reader.integer()
        guard let rules = reader.bytes(), let credentials = reader.bytes() else { return false }
        var platforms = ByteListReader(credentials)
        while !platforms.isAtEnd {
            guard platforms.text() != nil, let sealed = platforms.bytes() else { return false }
            if !sealed.starts(with: sealer.mark) { return true }
        }
        return isRulesSealedOtherwise(rules)
    }

    /// - Parameter hub: The hub to which the settings belong; nil if the bytes are the access rules of the namespace.
    func resealed(_ bytes: [UInt8], of hub: Hub.ID?) throws(StorageError) -> [UInt8] {
        guard let hub else {
            let context = HubStatements.namespaceContext
            return try encode(try rules(bytes, context: context), context: context)
        }
        let context = HubStatements.context(hub)
        return try encode(try settings(bytes, context: context), context: context)
    }
}

enum SealingStatements {
    static let hubs = Statement.rare([], "SELECT id, settings FROM hubs WHERE NOT is_deleted ORDER BY id")
    static let namespace = Statement.rare([], "SELECT rules FROM namespace")
    /// The meaning of the settings does not change, so the version and the time of the last change stay the same.
    static let setSettings = Statement.rare([.int8, .bytes], "UPDATE hubs SET settings = $2 WHERE id = $1")
}
