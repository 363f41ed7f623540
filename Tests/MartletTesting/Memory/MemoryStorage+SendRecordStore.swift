public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: SendRecordStore {
    public func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord? {
        state.withLock { $0.send(key, at: now) }
    }

    public func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord {
        state.withLock { state in
            if let known = state.send(record.request.key, at: record.startedAt) { return known }
            state.sends[record.request.key] = record
            return record
        }
    }

    public func completeSend(_ key: [UInt8]) async throws(StorageError) {
        state.withLock { $0.sends[key]?.isComplete = true }
    }

    public func removeSendRecord(_ key: [UInt8]) async throws(StorageError) {
        state.withLock { $0.sends[key] = nil }
    }
}

extension MemoryState {
    fileprivate func send(_ key: [UInt8], at now: Timestamp) -> SendRecord? {
        sends[key].flatMap { $0.startedAt + RequestIdentity.lifetime > now ? $0 : nil }
    }
}
