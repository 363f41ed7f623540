public import MartletCore
public import MartletModel

extension PostgresStorage: ReceiptStore {
    public func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError) {
        try await addReceipts(receipts, from: source, at: now, payloads: self)
    }

    /// - Parameter payloads: The storage with the payloads, which is that of the first cluster.
    func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp, payloads: PostgresStorage
    ) async throws(StorageError) {
        guard let registration = try await registration(source.device, in: source.hub, at: now),
            registration.tags.contains(source.tag)
        else { return }
        try await payloads.addPayloadReceipts(receipts, from: source, at: now)
        guard receipts.contains(where: \.isForNotification) else { return }
        let device = ReceiptTable.Device(registration: registration, user: source.user)
        try await write(Shard(source.hub)) { session throws(StorageError) in
            guard session.numbers != nil else { return }
            for receipt in receipts {
                guard case .notification(let id) = receipt.subject else { continue }
                try ReceiptTable(session).add(receipt.event, of: id, at: min(receipt.at, now), from: device)
            }
        }
    }

    public func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        let id: NotificationID
        switch subject {
        case .payload(let payload): return try await payloadReceipts(of: payload, after: last, limit: limit)
        case .notification(let notification): id = notification
        }
        return try await read(Shard(hub)) { session throws(StorageError) in
            try ReceiptTable(session).page(of: id, after: last, limit: limit)
        }
    }
}

extension Receipt {
    fileprivate var isForNotification: Bool {
        if case .notification = subject { true } else { false }
    }
}
