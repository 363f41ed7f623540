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
            let deliveries = DeliveryTable(session)
            guard let progress = try deliveries.progress(of: delivery) else { return nil }
            var evidence = DeliveryEvidence(progress: progress)
            let ranges = RangeTable(session)
            for member in members {
                evidence.members[member] = MemberEvidence(
                    range: try ranges.range(of: member, in: delivery),
                    refusal: try RefusalTable(session).refusal(of: member, in: delivery),
                    retry: try deliveries.retry(of: member, in: delivery),
                    attempts: try AttemptTable(session).attempts(of: member, in: delivery),
                    isReached: try ranges.isReached(member, by: delivery))
            }
            return evidence
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
