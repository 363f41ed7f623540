import MartletCore
import MartletModel

/// Stores and reads the controls that were requested for notifications, on one connection.
struct ControlTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func apply(
        _ wish: ControlRequest, to id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> ControlChange {
        let found = try connection.first(
            "SELECT sequence, control, begun_at IS NULL, finished_at IS NOT NULL FROM notifications WHERE hub = ? AND id = ?",
            hub.rawValue, id.bytes
        ) { row throws(StorageError) in
            (
                sequence: row.integer(0), control: try Self.control(row.text(1)), isWaiting: row.bool(2),
                hasEnded: row.bool(3)
            )
        }
        guard let found else { return .notFound }
        guard let control = found.control.after(wish, hasEnded: found.hasEnded) else { return .ended }
        if control != found.control {
            try connection.run(
                "UPDATE notifications SET control = ?, controlled_at = ?, finished_at = ? WHERE sequence = ?",
                control.rawValue, now, found.isWaiting && control == .canceled ? now : nil, found.sequence)
            if control == .running { try RolloutTable(connection).resetCounts(found.sequence) }
            if control == .canceled { try endParts(of: found.sequence, isWaiting: found.isWaiting, at: now) }
        }
        // Releases the rest of a canary, unless the notification was paused: a canary that held before the pause holds
        // again after a resume. If the canary has halted itself, a resume releases the rest.
        if control == .running, found.control != .paused, wish == .release || wish == .resume {
            try RolloutTable(connection).release(found.sequence, at: now)
        }
        let open = try connection.all(
            "SELECT id FROM deliveries WHERE notification = ? AND is_final = 0 ORDER BY id", found.sequence
        ) { Delivery.ID(rawValue: $0.integer(0)) }
        return .done(control, sequence: found.sequence, open: open)
    }

    /// Makes the waiting parts of a canceled notification due, so that their members are counted in its report. If the
    /// notification itself has not begun, removes its parts instead, because no members have been determined.
    private func endParts(of notification: Int64, isWaiting: Bool, at now: Timestamp) throws(StorageError) {
        let parts = PartTable(connection)
        if isWaiting {
            try parts.remove(of: notification)
        } else {
            try parts.open(of: notification, onlyGates: false, at: now)
        }
    }

    func controlled() throws(StorageError) -> [ControlledNotification] {
        try connection.all(
            """
            SELECT sequence, hub, control FROM notifications WHERE control <> 'running' AND finished_at IS NULL
                AND hub NOT IN (SELECT id FROM hubs WHERE is_deleted = 1)
            """
        ) { row throws(StorageError) in
            ControlledNotification(
                notification: row.integer(0), hub: Hub.ID(rawValue: row.integer(1)),
                control: try Self.control(row.text(2)))
        }
    }

    func hasEnded(_ sequence: Int64) throws(StorageError) -> Bool {
        try connection.first("SELECT finished_at IS NOT NULL FROM notifications WHERE sequence = ?", sequence) {
            $0.bool(0)
        } ?? true
    }

    static func control(_ text: String) throws(StorageError) -> NotificationControl {
        guard let control = NotificationControl(rawValue: text) else {
            throw StorageError(.corrupt, "A stored notification is controlled in an unknown way; restore a backup.")
        }
        return control
    }
}
