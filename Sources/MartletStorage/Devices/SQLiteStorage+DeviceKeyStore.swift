public import MartletCore
public import MartletModel

extension SQLiteStorage: DeviceKeyStore {
    public func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool {
        if key != nil { try room.check() }
        return try await writer.write { connection throws(StorageError) in
            try DeviceKeyTable(connection).put(key, of: registration, tagged: tag, in: hub)
        }
    }

    public func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice] {
        try await readers.read { connection throws(StorageError) in
            try DeviceKeyTable(connection).keys(of: tag, in: hub, at: now, limit: limit)
        }
    }
}
