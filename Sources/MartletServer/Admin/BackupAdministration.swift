import MartletCore
import MartletHTTP
import MartletStorage

/// Creates backups: `GET /backup`. `?keys=1` includes the server's keys.
struct BackupAdministration: Sendable {
    let storage: SQLiteStorage
    let dataDirectory: String
    let time: any TimeSource
    let log: Log

    func addRoutes(to router: inout Router) {
        router.on(.get, "/backup") { _, match in
            do {
                return response(try await backup(withKeys: match.target.item("keys")?.value == "1"))
            } catch let error as StorageError {
                return HTTPResponse(error.kind == .locked ? .conflict : .serviceUnavailable, error: error.detail)
            } catch {
                return HTTPResponse(.conflict, error: "\(error)")
            }
        }
    }

    private func backup(withKeys: Bool) async throws -> Backup {
        let keys = withKeys ? try readKeys() : nil
        let createdAt = time.now
        let snapshot = try await storage.snapshot()
        // If keys were added or retired in the meantime, they may not be the keys with which the snapshot is sealed.
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

    /// Records the time of a backup. A failure is only logged, because a complete backup has not failed just because
    /// the disk is full.
    private func record(_ backup: Backup) async {
        do throws(StorageError) {
            try await storage.recordBackup(at: backup.createdAt)
        } catch {
            log.write(.warning, "The time of the backup could not be recorded: \(error)")
        }
    }

    private func response(_ backup: Backup) -> HTTPResponse {
        HTTPResponse(
            .ok, fields: ["content-type": "application/x-tar", "cache-control": "no-store"],
            body: .stream { [log] writer in
                do {
                    // Not on an event loop, because event loops are needed for sending pushes.
                    try await withTaskExecutorPreference(globalConcurrentExecutor) {
                        try await backup.write { try await writer.write($0) }
                    }
                    await backup.snapshot.close()
                } catch {
                    await backup.snapshot.close()
                    log.write(.warning, "A backup was cut short: \(error)")
                    throw error
                }
                await record(backup)
            })
    }
}
