import MartletCore

/// Checks that the secret key of a node belongs to the database. The database stores a sealed text for this check.
struct KeyCheck {
    let sealer: any Sealer

    static let context = "namespace/sealed_check"
    private static let text = Array("martlet".utf8)

    /// Checks that the key opens the sealed text. In a new database, first stores a text that is sealed with this
    /// node's key.
    /// - Returns: The reason why the node cannot use the database; nil if the key opens the text.
    func check(_ connection: Connection, _ patience: Connection.Patience) throws(DatabaseFailure) -> StorageError? {
        if let sealed = try Self.storedText(connection, patience) {
            return Self.isOf(sealer, sealed) ? nil : Self.otherKey
        }
        let sealed: [UInt8]
        do throws(StorageError) {
            sealed = try Self.sealed(with: sealer)
        } catch {
            return error
        }
        try connection.run(Batch(Self.store) { $0.add(sealed) }, patience)
        return nil
    }

    /// Whether a text was sealed with the keys of a sealer.
    static func isOf(_ sealer: any Sealer, _ sealed: [UInt8]) -> Bool {
        sealer.open(sealed, context: context) == text
    }

    static func sealed(with sealer: any Sealer) throws(StorageError) -> [UInt8] {
        try sealer.seal(text, context: context)
    }

    /// Returns the text that is sealed with the key of the database's nodes; nil if the database is new. The schema must
    /// be that of this program or of an earlier version.
    static func storedText(
        _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> [UInt8]? {
        let rows = try connection.run(Batch(Self.stored), patience)[0]
        guard rows.count == 1 else { throw .corrupt("The row of the namespace is missing; restore a backup.") }
        return rows[0].optionalBytes(0)
    }

    static let noKey = StorageError(
        .unavailable,
        "The secrets of this database are sealed with a secret key, and this server has none. Put the secret.key of the "
            + "node that served it before into the data directory, or give its key in MARTLET_SECRET_KEY or "
            + "MARTLET_SECRET_KEY_FILE.")

    static let otherKey = StorageError(
        .unavailable,
        "The secrets of this database were sealed with another secret key. Put the secret.key of the node that served it "
            + "before into the data directory, or give its key in MARTLET_SECRET_KEY or "
            + "MARTLET_SECRET_KEY_FILE.")

    /// What to add for somebody who checks a server from a shell.
    static let adviceForChecks =
        " If the server's environment has the key, run the check with the same environment."

    private static let stored = Statement.rare([], "SELECT sealed_check FROM namespace")
    static let store = Statement.rare(
        [.bytes], "UPDATE namespace SET sealed_check = $1 WHERE sealed_check IS NULL")
}
