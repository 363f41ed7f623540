import MartletCore
import MartletModel

/// Changes the controls of notifications.
struct ControlTable {
    private let session: ShardSession
    private let cache: NumberCache

    init(_ session: ShardSession, _ cache: NumberCache) {
        self.session = session
        self.cache = cache
    }

    func apply(_ wish: ControlRequest, to id: NotificationID, at now: Timestamp) throws(StorageError) -> ControlChange {
        guard let found = try NotificationTable(session, cache).find(id) else { return .notFound }
        let sequence = found.notification.sequence
        guard let control = found.control.after(wish, hasEnded: found.finishedAt != nil) else { return .ended }
        let isWaiting = found.begunAt == nil
        if control != found.control {
            session.run(
                "UPDATE notifications SET control = $3, controlled_at = $4 WHERE shard = $1 AND sequence = $2",
                sequence,
                control.rawValue, now)
            if control == .running { try RolloutTable(session).resetCounts(sequence) }
            if control == .canceled { end(sequence, isWaiting: isWaiting, at: now) }
        }
        // Releases the rest of a canary, unless the notification was paused: a canary that held before the pause holds
        // again after a resume. If the canary has halted itself, a resume releases the rest.
        if control == .running, found.control != .paused, wish == .release || wish == .resume {
            try RolloutTable(session).release(sequence, at: now)
        }
        let open = try session.all(
            "SELECT id FROM deliveries WHERE shard = $1 AND notification = $2 AND NOT is_final ORDER BY id", sequence
        ) { Delivery.ID(rawValue: $0.integer(0)) }
        return .done(control, sequence: sequence, open: open)
    }

    /// Makes the waiting parts of a canceled notification due, so that their members are counted in its report. If the
    /// notification itself has not begun, removes its parts and ends it instead, because no members have been
    /// determined.
    private func end(_ notification: Int64, isWaiting: Bool, at now: Timestamp) {
        guard isWaiting else { return PartTable(session).open(of: notification, onlyGates: false, at: now) }
        PartTable(session).remove(of: notification)
        BacklogTable.finish(notification, .at(now), session)
    }
}
