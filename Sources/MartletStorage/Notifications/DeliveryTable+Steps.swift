import MartletCore
import MartletModel

extension DeliveryTable {
    /// Does nothing where the delivery is gone with its hub.
    func record(_ step: DeliveryStep) throws(StorageError) {
        try connection.run(
            """
            UPDATE deliveries SET cursor_channel = ifnull(?, cursor_channel),
                cursor_registration = ifnull(?, cursor_registration), is_fanned_out = ?, state = ?, is_final = ?,
                started_at = ifnull(started_at, ?), ended_at = ifnull(?, ended_at)
            WHERE id = ?
            """, step.cursor?.channel.rawValue, step.cursor?.registration, step.isFannedOut, step.state.rawValue,
            step.state.isFinal, step.startedAt, step.endedAt, step.delivery.rawValue)
        guard connection.changes == 1 else { return }
        try addCounts(step)
        try addRefusals(step)
        try settle(step)
        try addRetries(step)
        let ranges = RangeTable(connection)
        if let range = step.range { try ranges.insert(range, of: step.delivery) }
        try ranges.insert(step.reached, of: step.delivery)
        try AttemptTable(connection).insert(step.attempts, of: step.delivery)
        try LaneTable(connection).note(step)
        if step.state.isFinal { try finishNotification(of: step.delivery) }
    }

    /// A notification is over with the last of its deliveries.
    private func finishNotification(of delivery: Delivery.ID) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET finished_at =
                (SELECT ifnull(max(ended_at), begun_at) FROM deliveries WHERE notification = notifications.sequence)
            WHERE sequence = (SELECT notification FROM deliveries WHERE id = ?) AND NOT EXISTS
                (SELECT 1 FROM deliveries WHERE notification = notifications.sequence AND is_final = 0)
            """, delivery.rawValue)
    }

    private func addCounts(_ step: DeliveryStep) throws(StorageError) {
        for (outcome, count) in step.counts where count != 0 {
            try connection.run(
                """
                INSERT INTO outcome_counts (delivery, outcome, count) VALUES (?, ?, ?)
                ON CONFLICT (delivery, outcome) DO UPDATE SET count = count + excluded.count
                """, step.delivery.rawValue, outcome.rawValue, count)
        }
    }

    /// A refusal keeps what it is about, because the registration may be removed for it. Of a native send, which goes to
    /// a channel, it is the oldest registration of that.
    private func addRefusals(_ step: DeliveryStep) throws(StorageError) {
        for refusal in step.refusals {
            let (channel, registration) = (refusal.member.channel.rawValue, refusal.member.registration)
            try connection.run(
                """
                INSERT OR REPLACE INTO refusals (delivery, channel, registration, handle, registration_id,
                    installation_id, outcome, reason, refused_at, attempts, origin, status, connection, fate)
                SELECT ?1, ?2, ?3, ?4, r.id, i.id, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM (SELECT 1)
                    LEFT JOIN registrations r ON r.channel = ?2 AND r.sequence = CASE WHEN ?3 > 0 THEN ?3
                        ELSE (SELECT min(sequence) FROM registrations WHERE channel = ?2 AND template IS NULL) END
                    LEFT JOIN installations i ON i.sequence = r.installation
                """, step.delivery.rawValue, channel, registration, refusal.handle.map { StoredHandle($0.text) },
                refusal.outcome.rawValue, refusal.reason, refusal.at, refusal.attempts, refusal.answer?.origin,
                refusal.answer?.status, refusal.answer?.connection, refusal.fate.rawValue)
        }
    }

    private func settle(_ step: DeliveryStep) throws(StorageError) {
        for member in step.settled {
            try connection.run(
                "DELETE FROM retries WHERE delivery = ? AND channel = ? AND registration = ?", step.delivery.rawValue,
                member.channel.rawValue, member.registration)
        }
    }

    private func addRetries(_ step: DeliveryStep) throws(StorageError) {
        for retry in step.retries {
            try connection.run(
                """
                INSERT OR REPLACE INTO retries (delivery, channel, registration, attempts, due_at, outcome, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, step.delivery.rawValue, retry.member.channel.rawValue, retry.member.registration, retry.attempts,
                retry.dueAt, retry.outcome.rawValue, retry.reason)
        }
    }
}
