import MartletCore
import MartletModel

/// Stores and reads the roll-outs of notifications and their state, on one connection.
struct RolloutTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ rollout: Rollout, of notification: Int64) throws(StorageError) {
        let (rate, duration): (Int?, Int64?) =
            switch rollout.pace {
            case .rate(let rate): (rate, nil)
            case .over(let time): (nil, Int64(time / .milliseconds(1)))
            case nil: (nil, nil)
            }
        let (size, share): (Int?, Int?) =
            switch rollout.sample {
            case .size(let size): (size, nil)
            case .share(let share): (nil, share)
            case nil: (nil, nil)
            }
        let halt = rollout.halt
        try connection.run(
            """
            INSERT INTO rollouts (notification, rate, duration, halt_share, halt_answers, sample_size, sample_share,
                sample_threshold, wait)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, notification, rate, duration, halt?.share,
            halt.flatMap { $0.statesAnswers || rollout.sample == nil ? $0.answers : nil }, size, share,
            share.map { Int64(bitPattern: SampleHash.threshold(ofShare: $0)) }, rollout.wait?.wholeMilliseconds)
    }

    func remove(of notification: Int64) throws(StorageError) {
        try connection.run("DELETE FROM rollouts WHERE notification = ?", notification)
    }

    func setAudience(_ count: Int, of notification: Int64) throws(StorageError) -> Int? {
        try connection.run(
            "UPDATE rollouts SET audience = ? WHERE notification = ? AND audience IS NULL", count, notification)
        return try status(of: notification)?.audience
    }

    func record(of notification: Int64) throws(StorageError) -> RolloutRecord? {
        try connection.first(
            "SELECT audience, sent_at, sample_threshold FROM rollouts WHERE notification = ?", notification
        ) { row in
            RolloutRecord(
                audience: row.optionalInteger(0).map { Int($0) }, lastSentAt: row.optionalTimestamp(1),
                threshold: row.optionalInteger(2).map { UInt64(bitPattern: $0) })
        }
    }

    /// Records the time when a page of a delivery was sent, in the roll-out of its notification. After a restart, the
    /// time of the next page is computed from the recorded time.
    func recordSending(of delivery: Delivery.ID, at sentAt: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE rollouts SET sent_at = max(ifnull(sent_at, ?1), ?1)
            WHERE notification = (SELECT notification FROM deliveries WHERE id = ?2)
            """, sentAt, delivery.rawValue)
    }

    func correctLastSending(of notification: Int64, at now: Timestamp) throws(StorageError) {
        try connection.run(
            "UPDATE rollouts SET sent_at = ?1 WHERE notification = ?2 AND sent_at > ?1", now, notification)
    }

    struct Status {
        var audience: Int?
        var countedFrom: SendCounts
        var heldAt: Timestamp?
        var releasedAt: Timestamp?
        /// The time at which a holding canary continues by itself; nil if it holds until it is resumed.
        var goesOnAt: Timestamp?
    }

    func status(of notification: Int64) throws(StorageError) -> Status? {
        try connection.first(
            """
            SELECT audience, succeeded, failed, held_at, released_at, held_at + wait FROM rollouts
            WHERE notification = ?
            """, notification
        ) { row in
            Status(
                audience: row.optionalInteger(0).map { Int($0) },
                countedFrom: SendCounts(succeeded: Int(row.integer(1)), failed: Int(row.integer(2))),
                heldAt: row.optionalTimestamp(3), releasedAt: row.optionalTimestamp(4),
                goesOnAt: row.optionalTimestamp(5))
        }
    }

    // MARK: Canaries

    /// Stores the threshold of a canary's sample and the size of the audience, unless they are stored already. If the
    /// sample is the whole audience, removes the part of the rest.
    func setSample(_ sample: CountedSample, of notification: Int64) throws(StorageError) -> RolloutRecord? {
        try connection.run(
            """
            UPDATE rollouts SET sample_threshold = ?, audience = ?
            WHERE notification = ? AND sample_threshold IS NULL
            """, Int64(bitPattern: sample.threshold), sample.audience, notification)
        if connection.changes == 1, sample.isWholeAudience {
            try connection.run(
                "DELETE FROM parts WHERE notification = ? AND side = ? AND begun_at IS NULL", notification,
                SampleSide.rest.rawValue)
        }
        return try record(of: notification)
    }

    /// Records the time when a canary's sample has been sent. Does nothing if other deliveries of the sample have pages
    /// left, or if a time is recorded already.
    func recordSampleEnd(of delivery: Delivery.ID, at timestamp: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE rollouts SET held_at = ?1
            WHERE notification = (SELECT notification FROM deliveries WHERE id = ?2) AND held_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notification = rollouts.notification
                    AND d.side = ?3 AND d.is_fanned_out = 0 AND d.is_final = 0)
            """, timestamp, delivery.rawValue, SampleSide.sample.rawValue)
    }

    /// Releases the rest of a canary, if the canary holds. To do so, opens the gate of the part that sends to the rest.
    func release(_ notification: Int64, at now: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE rollouts SET released_at = ?1
            WHERE notification = ?2 AND held_at IS NOT NULL AND released_at IS NULL
                AND EXISTS (SELECT 1 FROM parts WHERE notification = ?2 AND due_at IS NULL AND begun_at IS NULL)
            """, now, notification)
        guard connection.changes == 1 else { return }
        try PartTable(connection).open(of: notification, onlyGates: true, at: now)
        try resetCounts(notification)
    }

    private static let isHolding = """
        held_at IS NOT NULL AND wait IS NOT NULL AND released_at IS NULL AND judged_at IS NULL
            AND EXISTS (SELECT 1 FROM notifications n WHERE n.sequence = rollouts.notification
                AND n.control = 'running' AND n.finished_at IS NULL)
        """

    /// The query for the earliest time at which a holding canary has waited long enough.
    static let nextCanaryDue = """
        SELECT held_at + wait AS at FROM rollouts INDEXED BY rollouts_holding
        WHERE \(isHolding) ORDER BY held_at + wait LIMIT 1
        """

    func canariesDue(at now: Timestamp, limit: Int) throws(StorageError) -> [HeldCanary] {
        try connection.all(
            """
            SELECT n.sequence, n.id, n.hub FROM rollouts INDEXED BY rollouts_holding
                CROSS JOIN notifications n ON n.sequence = rollouts.notification
            WHERE \(Self.isHolding) AND held_at + wait <= ? ORDER BY held_at + wait LIMIT ?
            """, now, limit
        ) { row throws(StorageError) in
            guard let id = NotificationID(bytes: row.bytes(1)) else {
                throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
            }
            return HeldCanary(notification: row.integer(0), id: id, hub: Hub.ID(rawValue: row.integer(2)))
        }
    }

    func correctHolds(at now: Timestamp) throws(StorageError) {
        try connection.run(
            """
            UPDATE rollouts SET held_at = min(held_at, ?1), judged_at = NULL
            WHERE held_at + wait > ?1 AND released_at IS NULL AND (held_at > ?1 OR judged_at IS NOT NULL)
                AND EXISTS (SELECT 1 FROM notifications n WHERE n.sequence = rollouts.notification
                    AND n.finished_at IS NULL)
            """, now)
        try PartTable(connection).correctOpenings(at: now)
    }

    func recordWaitingForAnswers(of notification: Int64, at now: Timestamp) throws(StorageError) {
        try connection.run("UPDATE rollouts SET judged_at = ? WHERE notification = ?", now, notification)
    }

    /// Resets the counts of the halt rule: pushes that have ended so far are no longer counted.
    func resetCounts(_ notification: Int64) throws(StorageError) {
        let outcomes = try connection.all(
            """
            SELECT outcome, sum(count) FROM outcome_counts
            WHERE delivery IN (SELECT id FROM deliveries WHERE notification = ?) GROUP BY outcome
            """, notification
        ) { (OutcomeName(rawValue: $0.text(0)), Int($0.integer(1))) }
        let counts = SendCounts(Dictionary(uniqueKeysWithValues: outcomes))
        try connection.run(
            "UPDATE rollouts SET succeeded = ?, failed = ? WHERE notification = ?", counts.succeeded, counts.failed,
            notification)
    }
}
