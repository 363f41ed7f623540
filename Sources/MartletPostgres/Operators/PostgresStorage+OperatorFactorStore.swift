public import MartletCore
public import MartletModel

extension PostgresStorage: OperatorFactorStore {
    public func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool {
        let name = name.lowercased()
        let sealed = try sealer.seal(secret, context: FactorStatements.context(name))
        return try await change(FactorStatements.begin) {
            $0.add(name)
            $0.add(sealed)
        }
    }

    public func factor(of name: String) async throws(StorageError) -> OperatorFactor? {
        let name = name.lowercased()
        let rows = try await read(Batch(FactorStatements.find) { $0.add(name) })[0]
        return rows.count == 1 ? try OperatorFactor(rows[0], of: name, sealer) : nil
    }

    public func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool {
        let (name, sealer) = (name.lowercased(), sealer)
        let confirmed = try await transaction {
            connection, patience throws(DatabaseFailure) -> Result<Bool, StorageError> in
            let rows = try connection.run(Batch(FactorStatements.lock) { $0.add(name) }, patience)[0]
            guard rows.count == 1 else { return .success(false) }
            do throws(StorageError) {
                let known = try OperatorFactor(rows[0], of: name, sealer)
                guard known.confirmedAt == nil, known.secret == secret else { return .success(false) }
            } catch {
                return .failure(error)
            }
            var batch = Batch(FactorStatements.confirm) {
                $0.add(name)
                $0.add(now)
                $0.add(step)
            }
            batch.add(FactorStatements.removeCodes) { $0.add(name) }
            batch.add(FactorStatements.addCodes) {
                $0.add(name)
                $0.add(recoveryCodes)
            }
            try connection.run(batch, patience)
            return .success(true)
        }
        return try confirmed.get()
    }

    public func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool {
        try await change(FactorStatements.use) {
            $0.add(name.lowercased())
            $0.add(step)
        }
    }

    public func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await change(FactorStatements.useCode) {
            $0.add(name.lowercased())
            $0.add(hash)
        }
    }

    public func removeFactor(of name: String) async throws(StorageError) -> Bool {
        let name = name.lowercased()
        return try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(FactorStatements.remove) { $0.add(name) }
            batch.add(FactorStatements.removeCodes) { $0.add(name) }
            batch.add(OperatorStatements.find) { $0.add(name) }
            return try connection.run(batch, patience).last?.count == 1
        }
    }
}

extension OperatorFactor {
    /// - Throws: `StorageError` if the secret was encrypted with another key.
    fileprivate init(_ row: Row, of name: String, _ sealer: any Sealer) throws(StorageError) {
        guard let secret = sealer.open(row.bytes(0), context: FactorStatements.context(name)) else {
            throw StorageError(
                .corrupt,
                "The second factor of an operator cannot be read: this is not the encryption key that the database "
                    + "was written with.")
        }
        self.init(
            secret: secret, confirmedAt: row.optionalTimestamp(1), lastStep: row.integer(2),
            recoveryCodes: Int(row.integer(3)))
    }
}

/// The statements on second factors. An operator is identified by the name in lower case.
enum FactorStatements {
    static func context(_ name: String) -> String { "operator_factors/\(name)" }

    static let begin = Statement.rare(
        [.bytes, .bytes],
        """
        INSERT INTO operator_factors AS f (operator, sealed_secret)
        SELECT folded_name, $2 FROM operators WHERE folded_name = $1
        ON CONFLICT (operator) DO UPDATE SET sealed_secret = excluded.sealed_secret WHERE f.confirmed_at IS NULL
        """)
    static let find = Statement.rare(
        [.bytes],
        """
        SELECT f.sealed_secret, f.confirmed_at, f.last_step,
            (SELECT count(*) FROM operator_recovery_codes c WHERE c.operator = f.operator)
        FROM operator_factors f WHERE f.operator = $1
        """)
    static let lock = Statement.rare([.bytes], "\(find.sql) FOR UPDATE OF f")
    static let confirm = Statement.rare(
        [.bytes, .int8, .int8],
        "UPDATE operator_factors SET confirmed_at = $2, last_step = $3 WHERE operator = $1")
    static let removeCodes = Statement.rare([.bytes], "DELETE FROM operator_recovery_codes WHERE operator = $1")
    static let addCodes = Statement.rare(
        [.bytes, .bytesArray],
        """
        INSERT INTO operator_recovery_codes (operator, hash) SELECT $1, c FROM unnest($2) c ON CONFLICT DO NOTHING
        """)
    static let use = Statement.rare(
        [.bytes, .int8],
        """
        UPDATE operator_factors SET last_step = $2 WHERE operator = $1 AND confirmed_at IS NOT NULL AND last_step < $2
        """)
    static let useCode = Statement.rare(
        [.bytes, .bytes], "DELETE FROM operator_recovery_codes WHERE operator = $1 AND hash = $2")
    static let remove = Statement.rare([.bytes], "DELETE FROM operator_factors WHERE operator = $1")
}
