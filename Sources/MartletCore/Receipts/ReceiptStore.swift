public import MartletModel

/// Keeps receipts for as long as what they are of.
public protocol ReceiptStore: Sendable {
    /// Keeps a device's receipts. The first of a device for an event stays; a later time than now is taken for now.
    /// What is not the user's is left out: all where the device does not carry the user's tag, receipts of payloads
    /// that the user is no addressee of or that are for another device, and of notifications that the device, as it is
    /// now, is not in the audience of.
    func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError)

    /// The receipts of a payload or notification by device and event, a page at a time.
    /// - Parameters:
    ///   - hub: That of a notification.
    ///   - after: Where the page before ended; nil for the first.
    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt]
}
