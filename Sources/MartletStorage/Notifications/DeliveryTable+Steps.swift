import MartletCore
import MartletModel

extension DeliveryTable {
    /// Records a step. Does nothing if the delivery was removed together with its hub.
    /// - Returns: Whether the delivery exists.
    func record(_ step: DeliveryStep) throws(StorageError) -> Bool {
        try connection.run(
            """
            UPDATE deliveries SET cursor_channel = ifnull(?, cursor_channel),
                cursor_registration = ifnull(?, cursor_registration), is_fanned_out = ?, state = ?, is_final = ?,
                started_at = ifnull(started_at, ?), ended_at = ifnull(?, ended_at)
            WHERE id = ?
            """, step.cursor?.channel.rawValue, step.cursor?.registration, step.isFannedOut, step.state.rawValue,
            step.state.isFinal, step.startedAt, step.endedAt, step.delivery.rawValue)
        guard connection.changes == 1 else { return false }
        try addCounts(step)
        try addRecords(step)
        try settle(step)
        try addRetries(step)
        let ranges = RangeTable(connection)
        if let range = step.range { try ranges.insert(range, of: step.delivery) }
        try ranges.insert(step.reached, of: step.delivery)
        try LaneTable(connection).record(step)
        if let sentAt = step.sentAt { try RolloutTable(connection).recordSending(of: step.delivery, at: sentAt) }
        if step.supersedesNone { try CollapseTable(connection).remove(step.delivery) }
        if let end = step.sampleEndsAt { try RolloutTable(connection).recordSampleEnd(of: step.delivery, at: end) }
        if step.state.isFinal { try finishNotification(of: step.delivery) }
        return true
    }

    /// Finishes the notification of a delivery if all deliveries of the notification are final and none of its parts
    /// waits.
    private func finishNotification(of delivery: Delivery.ID) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET finished_at =
                (SELECT ifnull(max(ended_at), begun_at) FROM deliveries WHERE notification = notifications.sequence)
            WHERE sequence = (SELECT notification FROM deliveries WHERE id = ?) AND NOT EXISTS
                (SELECT 1 FROM deliveries WHERE notification = notifications.sequence AND is_final = 0)
                AND (has_parts = 0 OR NOT EXISTS
                    (SELECT 1 FROM parts WHERE notification = notifications.sequence AND begun_at IS NULL))
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

    /// Stores the refusals and attempts of a step: together in `PageRecords` if `PageRecordTable.insert` can, else each
    /// in a row of its own.
    private func addRecords(_ step: DeliveryStep) throws(StorageError) {
        if step.refusals.isEmpty, step.attempts.isEmpty { return }
        var step = step
        try ChannelTable(connection).keepRenewedHandles(of: &step)
        let refusals = RefusalTable(connection)
        if try !PageRecordTable(connection).insert(step) {
            try refusals.insertRows(step.refusals, of: step.delivery)
            try AttemptTable(connection).insert(step.attempts, of: step.delivery)
        }
        if !step.refusals.isEmpty { try refusals.recordRefusals(of: step.delivery) }
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
