public import MartletCore
public import MartletModel

extension SQLiteStorage: SendRecordStore {
    public func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord? {
        try await readers.read { connection throws(StorageError) in try SendTable(connection).record(key, at: now) }
    }

    public func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord {
        try await takeIn { connection throws(StorageError) in try SendTable(connection).add(record) }
    }

    public func completeSend(_ key: [UInt8]) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try SendTable(connection).complete(key) }
    }

    public func removeSendRecord(_ key: [UInt8]) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try SendTable(connection).remove(key) }
    }
}
