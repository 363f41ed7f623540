import MartletCore
import MartletModel

/// Stores and reads the second factors of operators, on one connection.
struct FactorTable {
    private let connection: Connection
    private let sealer: any Sealer

    init(_ connection: Connection, _ sealer: any Sealer) {
        self.connection = connection
        self.sealer = sealer
    }

    static let sealedColumns = [
        SealedColumn(table: "operator_factors", column: "sealed_secret", context: "'operator_factors/' || operator")
    ]

    private static func context(_ name: String) -> String { "operator_factors/\(name)" }

    func begin(_ secret: [UInt8], of name: String) throws(StorageError) -> Bool {
        let name = name.lowercased()
        try connection.run(
            """
            INSERT INTO operator_factors (operator, sealed_secret)
            SELECT folded_name, ? FROM operators WHERE folded_name = ?
            ON CONFLICT (operator) DO UPDATE SET sealed_secret = excluded.sealed_secret WHERE confirmed_at IS NULL
            """, try sealer.seal(secret, context: Self.context(name)), name)
        return connection.changes > 0
    }

    func factor(of name: String) throws(StorageError) -> OperatorFactor? {
        let name = name.lowercased()
        return try connection.first(
            """
            SELECT sealed_secret, confirmed_at, last_step,
                (SELECT count(*) FROM operator_recovery_codes c WHERE c.operator = f.operator)
            FROM operator_factors f WHERE operator = ?
            """, name
        ) { row throws(StorageError) in
            guard let secret = sealer.open(row.bytes(0), context: Self.context(name)) else {
                throw StorageError(
                    .corrupt,
                    "The second factor of an operator cannot be read: this is not the encryption key that the database "
                        + "was written with.")
            }
            return OperatorFactor(
                secret: secret, confirmedAt: row.optionalTimestamp(1), lastStep: row.integer(2),
                recoveryCodes: Int(row.integer(3)))
        }
    }

    func confirm(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) throws(StorageError) -> Bool {
        guard let known = try factor(of: name), known.confirmedAt == nil, known.secret == secret else { return false }
        let name = name.lowercased()
        try connection.run(
            "UPDATE operator_factors SET confirmed_at = ?, last_step = ? WHERE operator = ?", now, step, name)
        try connection.run("DELETE FROM operator_recovery_codes WHERE operator = ?", name)
        for hash in recoveryCodes {
            try connection.run("INSERT INTO operator_recovery_codes (operator, hash) VALUES (?, ?)", name, hash)
        }
        return true
    }

    func use(of name: String, step: Int64) throws(StorageError) -> Bool {
        try connection.run(
            """
            UPDATE operator_factors SET last_step = ?1
            WHERE operator = ?2 AND confirmed_at IS NOT NULL AND last_step < ?1
            """, step, name.lowercased())
        return connection.changes > 0
    }

    func useRecoveryCode(_ hash: [UInt8], of name: String) throws(StorageError) -> Bool {
        try connection.run(
            "DELETE FROM operator_recovery_codes WHERE operator = ? AND hash = ?", name.lowercased(), hash)
        return connection.changes > 0
    }

    func remove(of name: String) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM operator_recovery_codes WHERE operator = ?", name.lowercased())
        try connection.run("DELETE FROM operator_factors WHERE operator = ?", name.lowercased())
        return try connection.first("SELECT 1 FROM operators WHERE folded_name = ?", name.lowercased()) { _ in true }
            ?? false
    }
}
