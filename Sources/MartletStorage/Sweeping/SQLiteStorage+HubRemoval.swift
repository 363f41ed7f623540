public import MartletCore

extension SQLiteStorage {
    public func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        let isThere = try await writer.write { [sealer] connection throws(StorageError) in
            try HubTable(connection, sealer).markDeleted(id)
        }
        if isThere { try await purge(id) }
        return isThere
    }

    /// Removes the remaining data of a deleted hub, in portions; other writes can happen in between.
    func purge(_ id: Hub.ID) async throws(StorageError) {
        var isDone = false
        while !isDone {
            let portion = try await writer.write { connection throws(StorageError) in
                try HubPurge(connection, id).removePortion()
            }
            for delivery in portion.unfinished { try progressMaps.remove(delivery) }
            isDone = portion.isLast
        }
    }
}
