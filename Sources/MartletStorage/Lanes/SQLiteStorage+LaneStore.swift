public import MartletCore
public import MartletModel

extension SQLiteStorage: LaneStore {
    public func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        try await readers.read { connection throws(StorageError) in try LaneTable(connection).memories(at: now) }
    }

    public func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try LaneTable(connection).forgetPauses(of: hub) }
    }
}
