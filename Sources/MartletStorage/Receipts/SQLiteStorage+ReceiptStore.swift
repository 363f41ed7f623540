public import MartletCore
public import MartletModel

extension SQLiteStorage: ReceiptStore {
    public func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError) {
        try await takeIn { connection throws(StorageError) in
            try ReceiptTable(connection).add(receipts, from: source, at: now)
        }
    }

    public func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await readers.read { connection throws(StorageError) in
            try ReceiptTable(connection).page(of: subject, in: hub, after: last, limit: limit)
        }
    }
}
