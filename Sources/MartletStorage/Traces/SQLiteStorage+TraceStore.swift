public import MartletCore

extension SQLiteStorage: TraceStore {
    public func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        try await readers.read { connection throws(StorageError) in
            try HistoryTable(connection).past(of: device, in: hub)
        }
    }

    public func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).traced(id, in: hub)
        }
    }

    public func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).evidence(of: members, in: delivery)
        }
    }

    public func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await readers.read { connection throws(StorageError) in
            try ReceiptTable(connection).receipts(of: notification, from: device, in: hub)
        }
    }
}
