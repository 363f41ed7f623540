public import MartletModel

/// Stores receipts for as long as their payloads and notifications are stored.
public protocol ReceiptStore: Sendable {
    /// Stores receipts of a device. If a device sends several receipts for the same event, the first is kept. A time in
    /// the future is replaced by the current time.
    ///
    /// Receipts that the device may not send are ignored. If the device does not have the user's tag, all receipts are
    /// ignored. Otherwise these are ignored: receipts for payloads that are not addressed to the user, or that are for
    /// another device, and receipts for notifications whose audience does not contain the device in its current state.
    func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError)

    /// Returns one page of the receipts of a payload or notification, sorted by device and event.
    /// - Parameters:
    ///   - hub: The hub of the notification, if the subject is a notification.
    ///   - after: The last receipt of the previous page; nil for the first page.
    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt]
}
