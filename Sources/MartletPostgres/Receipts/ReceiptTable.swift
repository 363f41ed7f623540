import MartletCore
import MartletModel

/// Stores and reads receipts of notifications.
struct ReceiptTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    /// A device that sends receipts: its registration and its user.
    struct Device {
        var registration: Registration
        var user: String
    }

    /// Stores a receipt, if the notification has begun and is for the device.
    func add(
        _ event: Receipt.Event, of id: NotificationID, at time: Timestamp, from device: Device
    ) throws(StorageError) {
        let found = try session.first(
            """
            SELECT n.sequence, n.platform, n.expression, n.handles, EXISTS (
                SELECT 1 FROM deliveries d WHERE d.shard = $1 AND d.notification = n.sequence AND d.platform = $3)
            FROM notifications n WHERE n.shard = $1 AND n.id = $2 AND n.begun_at IS NOT NULL
            """, id.bytes, device.registration.platform.rawValue
        ) { row throws(StorageError) -> Int64? in
            let target = StoredTarget(expression: row.optionalText(2), handles: row.optionalBytes(3))
            var platform = StoredContent.platform(row.optionalText(1))
            // A composed message is native content on each platform on which it is delivered.
            if row.optionalText(1) == StoredContent.everyPlatform {
                guard row.bool(4) else { return nil }
                platform = device.registration.platform
            }
            let isFor = try target.target().includes(device.registration, platform: platform)
            return isFor ? row.integer(0) : nil
        }
        guard let notification = found ?? nil else { return }
        let platform = device.registration.platform.rawValue
        session.run(
            """
            INSERT INTO notification_receipts (shard, notification, device, event, user_name, at, platform)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (shard, notification, device, event) DO NOTHING
            """, notification, ByteText(device.registration.id), event.rawValue, ByteText(device.user), time, platform)
        session.run(
            """
            INSERT INTO receipt_events (shard, platform, event) VALUES ($1, $2, $3)
            ON CONFLICT (shard, platform, event) DO NOTHING
            """, platform, event.rawValue)
    }

    // MARK: Reading

    func page(
        of id: NotificationID, after last: DeviceReceipt?, limit: Int
    ) throws(StorageError) -> [DeviceReceipt] {
        try session.all(
            """
            SELECT r.device, r.user_name, r.event, r.at
            FROM notifications n JOIN notification_receipts r ON r.shard = $1 AND r.notification = n.sequence
            WHERE n.shard = $1 AND n.id = $2 AND (r.device, r.event) > ($3, $4) ORDER BY r.device, r.event LIMIT $5
            """, id.bytes, ByteText(last?.device ?? ""), last?.event.rawValue ?? "", limit, read: Self.receipt)
    }

    func receipts(of id: NotificationID, from device: String) throws(StorageError) -> [DeviceReceipt] {
        try session.all(
            """
            SELECT r.device, r.user_name, r.event, r.at
            FROM notifications n JOIN notification_receipts r ON r.shard = $1 AND r.notification = n.sequence
            WHERE n.shard = $1 AND n.id = $2 AND r.device = $3 ORDER BY r.at, r.event
            """, id.bytes, ByteText(device), read: Self.receipt)
    }

    static func receipt(_ row: Row) throws(StorageError) -> DeviceReceipt {
        guard let event = Receipt.Event(rawValue: row.text(2)) else { throw StorageError.unreadable("receipt") }
        return DeviceReceipt(device: row.text(0), user: row.text(1), event: event, at: row.timestamp(3))
    }
}
