import MartletCore
import MartletModel

/// Stores and reads receipts of notifications and payloads, on one connection.
struct ReceiptTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func add(_ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp) throws(StorageError) {
        let stored = try RegistrationTable(connection).find(source.device, in: source.hub)
        guard let stored, !stored.isExpired(at: now), stored.registration.tags.contains(source.tag) else { return }
        for receipt in receipts {
            switch receipt.subject {
            case .payload(let id):
                guard try isAddressee(source, of: id, at: now) else { continue }
                try connection.run(
                    "INSERT OR IGNORE INTO payload_receipts (payload, device, event, user, at) VALUES (?, ?, ?, ?, ?)",
                    id.stored, source.device, receipt.event.rawValue, source.user, min(receipt.at, now))
            case .notification(let id):
                guard let notification = try sequence(of: id, in: source.hub, for: stored.registration) else {
                    continue
                }
                try insert(receipt, of: notification, source, stored.registration.platform, at: now)
            }
        }
    }

    private func insert(
        _ receipt: Receipt, of notification: Int64, _ source: ReceiptSource, _ platform: PlatformID, at now: Timestamp
    ) throws(StorageError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO notification_receipts (notification, device, event, user, at, platform)
            VALUES (?, ?, ?, ?, ?, ?)
            """, notification, source.device, receipt.event.rawValue, source.user, min(receipt.at, now),
            platform.rawValue)
        guard connection.changes > 0 else { return }
        try connection.run(
            "INSERT OR IGNORE INTO receipt_events (hub, platform, event) VALUES (?, ?, ?)", source.hub.rawValue,
            platform.rawValue, receipt.event.rawValue)
    }

    private func isAddressee(
        _ source: ReceiptSource, of id: PayloadID, at now: Timestamp
    ) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM payloads p JOIN addressees a ON a.payload = p.id
                LEFT JOIN users u ON u.folded_name = a.user
            WHERE p.id = ? AND a.user = ? AND p.is_published = 1 AND p.expires_at > ?
                AND (p.device IS NULL OR p.device = ?) AND (u.created_at IS NULL OR u.created_at <= p.created_at)
            """, id.stored, source.user, now, source.device
        ) { _ in true } ?? false
    }

    /// Returns the sequence number of a notification; nil if it does not exist, has not begun, or is not for the
    /// registration.
    private func sequence(
        of id: NotificationID, in hub: Hub.ID, for registration: Registration
    ) throws(StorageError) -> Int64? {
        let found = try connection.first(
            """
            SELECT n.sequence, n.platform, n.expression, n.handles,
                EXISTS (SELECT 1 FROM deliveries d WHERE d.notification = n.sequence AND d.platform = ?)
            FROM notifications n WHERE n.hub = ? AND n.id = ? AND n.begun_at IS NOT NULL
            """, registration.platform.rawValue, hub.rawValue, id.bytes
        ) { row throws(StorageError) -> Int64? in
            let target = StoredTarget(expression: row.optionalText(2), handles: row.isNull(3) ? nil : row.bytes(3))
            var platform = StoredMessage.platform(row.optionalText(1))
            // A composed message is native content on each platform on which it is delivered.
            if row.optionalText(1) == StoredMessage.everyPlatform {
                guard row.bool(4) else { return nil }
                platform = registration.platform
            }
            let isFor = try target.target().includes(registration, platform: platform)
            return isFor ? row.integer(0) : nil
        }
        return found ?? nil
    }

    // MARK: Reading

    func page(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) throws(StorageError) -> [DeviceReceipt] {
        let (device, event) = (last?.device ?? "", last?.event.rawValue ?? "")
        switch subject {
        case .payload(let id):
            return try connection.all(
                """
                SELECT device, user, event, at FROM payload_receipts
                WHERE payload = ? AND (device, event) > (?, ?) ORDER BY device, event LIMIT ?
                """, id.stored, device, event, limit, read: Self.receipt)
        case .notification(let id):
            return try connection.all(
                """
                SELECT device, user, event, at FROM notification_receipts
                WHERE notification = (SELECT sequence FROM notifications WHERE hub = ? AND id = ?)
                    AND (device, event) > (?, ?) ORDER BY device, event LIMIT ?
                """, hub.rawValue, id.bytes, device, event, limit, read: Self.receipt)
        }
    }

    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) throws(StorageError) -> [DeviceReceipt] {
        try connection.all(
            """
            SELECT device, user, event, at FROM notification_receipts
            WHERE notification = (SELECT sequence FROM notifications WHERE hub = ? AND id = ?) AND device = ?
            ORDER BY at, event
            """, hub.rawValue, notification.bytes, device, read: Self.receipt)
    }

    private static func receipt(_ row: Statement) throws(StorageError) -> DeviceReceipt {
        guard let event = Receipt.Event(rawValue: row.text(2)) else {
            throw StorageError(.corrupt, "A stored receipt cannot be read; restore a backup.")
        }
        return DeviceReceipt(device: row.text(0), user: row.text(1), event: event, at: row.timestamp(3))
    }
}
