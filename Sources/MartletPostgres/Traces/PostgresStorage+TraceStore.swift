public import MartletCore
import MartletModel

extension PostgresStorage: TraceStore {
    public func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        try await read(Shard(hub), isConsistent: true) { [cache] session throws(StorageError) in
            try NotificationTable(session, cache).traced(id)
        }
    }

    public func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? {
        try await read(Shard(ofComposed: delivery.rawValue), isConsistent: true) { session throws(StorageError) in
            guard let progress = try DeliveryTable(session).progress(of: delivery) else { return nil }
            let reader = EvidenceReader(session: session, delivery: delivery)
            return DeliveryEvidence(progress: progress, members: try reader.evidence(of: members))
        }
    }

    public func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await read(Shard(hub)) { session throws(StorageError) in
            try ReceiptTable(session).receipts(of: notification, from: device)
        }
    }
}
