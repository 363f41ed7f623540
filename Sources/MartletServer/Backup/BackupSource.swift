import MartletCore
import MartletModel
import MartletStorage

/// Begins backups of a running server, and records that they were made.
struct BackupSource: Sendable {
    /// The database in the data directory; nil if the data is in PostgreSQL.
    let files: SQLiteStorage?
    let dataDirectory: String
    let time: any TimeSource
    let log: Log

    /// Begins a backup of the current state.
    ///
    /// The caller must close the snapshot of the backup.
    /// - Throws: `StorageError` if the database cannot be copied, `ServerError` if the data is in PostgreSQL, or if the
    ///   keys are requested but cannot be read or change in the meantime.
    func begin(withKeys: Bool) async throws -> Backup {
        guard let files else {
            throw ServerError(
                "The data is in PostgreSQL: back it up with pg_basebackup or pg_dump, and keep the server's keys apart."
            )
        }
        let keys = withKeys ? try readKeys() : nil
        let createdAt = time.now
        let snapshot = try await files.snapshot()
        // If keys were added or retired while the snapshot was made, the secrets in the snapshot may be sealed with
        // keys other than those that were read before. The backup then fails, because these secrets could not be
        // decrypted from it.
        if withKeys, try readKeys() != keys {
            throw ServerError("The server's keys were changed while the backup was made; try again.")
        }
        return Backup(snapshot: snapshot, createdAt: createdAt, keys: keys)
    }

    private func readKeys() throws(ServerError) -> [UInt8] {
        guard !KeyEnvironment.givesKeys else {
            throw ServerError(
                "The keys are given by the environment, not in the data directory: leave --with-key out, and "
                    + "keep them where they are.")
        }
        guard let keys = try SecretFile.readOwn("\(dataDirectory)/\(Backup.keysName)") else {
            throw ServerError("There is no \(Backup.keysName) in the data directory.")
        }
        return keys
    }

    /// Records the time of a backup.
    ///
    /// A failure is only logged. It does not make the backup invalid: the record may be impossible because the disk is
    /// full, for example.
    func record(_ backup: Backup) async {
        do throws(StorageError) {
            try await files?.recordBackup(at: backup.createdAt)
        } catch {
            log.write(.warning, "The time of the backup could not be recorded: \(error)")
        }
    }
}
