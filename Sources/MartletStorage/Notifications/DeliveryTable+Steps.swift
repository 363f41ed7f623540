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
        try addRefusals(step)
        try settle(step)
        try addRetries(step)
        let ranges = RangeTable(connection)
        if let range = step.range { try ranges.insert(range, of: step.delivery) }
        try ranges.insert(step.reached, of: step.delivery)
        try AttemptTable(connection).insert(step.attempts, of: step.delivery)
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

    /// Stores the ids of a refusal's registration with the refusal, because the registration may be removed as a result
    /// of it. A native send goes to a channel; in this case the channel's oldest registration is used.
    ///
    /// A broadcast can produce many refusals. Therefore the statements are prepared once for all of them, and texts are
    /// bound only if they differ from the previous ones. No statement uses REPLACE, for which SQLite would keep a
    /// separate journal each time.
    private func addRefusals(_ step: DeliveryStep) throws(StorageError) {
        guard !step.refusals.isEmpty else { return }
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let about = try statements.take(
            """
            SELECT r.id, i.id FROM registrations r LEFT JOIN installations i ON i.sequence = r.installation
            WHERE r.channel = ?1 AND CASE WHEN ?2 > 0 THEN r.sequence = ?2 ELSE r.template IS NULL END
            ORDER BY r.sequence LIMIT 1
            """)
        let insert = try statements.take(
            """
            INSERT INTO refusals (delivery, channel, registration, handle, outcome, reason, refused_at, attempts, origin,
                status, connection, fate, registration_id, installation_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET handle = excluded.handle, outcome = excluded.outcome, reason = excluded.reason,
                refused_at = excluded.refused_at, attempts = excluded.attempts, origin = excluded.origin,
                status = excluded.status, connection = excluded.connection, fate = excluded.fate,
                registration_id = excluded.registration_id, installation_id = excluded.installation_id
            """)
        try insert.bind(step.delivery.rawValue, at: 1)
        var last: Refusal?
        for refusal in step.refusals {
            let registration = refusal.registration ?? refusal.member
            try about.bind(registration.channel.rawValue, at: 1)
            try about.bind(registration.registration, at: 2)
            let isThere = try about.step()
            try insert.bind(refusal.member.channel.rawValue, at: 2)
            try insert.bind(refusal.member.registration, at: 3)
            try insert.bind(refusal.handle.map { StoredHandle($0.text) }, at: 4)
            if last?.outcome != refusal.outcome { try insert.bind(refusal.outcome.rawValue, at: 5) }
            if last?.reason != refusal.reason { try insert.bind(refusal.reason, at: 6) }
            try insert.bind(refusal.at, at: 7)
            try insert.bind(refusal.attempts, at: 8)
            if last?.answer?.origin != refusal.answer?.origin { try insert.bind(refusal.answer?.origin, at: 9) }
            try insert.bind(refusal.answer?.status, at: 10)
            try insert.bind(refusal.answer?.connection, at: 11)
            if last?.fate != refusal.fate { try insert.bind(refusal.fate.rawValue, at: 12) }
            try insert.bind(isThere ? about : nil, column: 0, at: 13)
            try insert.bind(isThere ? about : nil, column: 1, at: 14)
            _ = try insert.step()
            about.reset()
            insert.reset()
            last = refusal
        }
        try RefusalTable(connection).recordRefusals(of: step.delivery)
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
