public import MartletModel

/// Keeps receipts as long as their payloads and notifications.
public protocol ReceiptStore: Sendable {
    /// Stores receipts of a device. Of several receipts of a device for the same event, the first one is kept; a time
    /// in the future is replaced by now. Receipts that the device may not send are ignored: all of them if the device
    /// does not have the user's tag, those of payloads that the user is no addressee of or that are for another device,
    /// and those of notifications whose audience the device, in its current state, is not in.
    func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError)

    /// One page of the receipts of a payload or notification, by device and event.
    /// - Parameters:
    ///   - hub: The hub of a notification.
    ///   - after: Where the previous page ended; nil for the first page.
    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt]
}
