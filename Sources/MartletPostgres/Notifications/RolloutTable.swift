import MartletCore
import MartletModel

/// Stores and reads the state of roll-outs, in the rows of their notifications.
struct RolloutTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    private static let isRollout = "coalesce(rate, duration, sample_size, sample_share) IS NOT NULL"

    func record(of notification: Int64) throws(StorageError) -> RolloutRecord? {
        try session.first(
            """
            SELECT audience, sent_at, sample_threshold FROM notifications
            WHERE shard = $1 AND sequence = $2 AND \(Self.isRollout)
            """, notification
        ) { row in
            RolloutRecord(
                audience: row.optionalInteger(0).map { Int($0) }, lastSentAt: row.optionalTimestamp(1),
                threshold: row.optionalInteger(2).map { UInt64(bitPattern: $0) })
        }
    }

    func setAudience(_ count: Int, of notification: Int64) throws(StorageError) -> Int? {
        session.run(
            "UPDATE notifications SET audience = $3 WHERE shard = $1 AND sequence = $2 AND audience IS NULL",
            notification, count)
        return try record(of: notification)?.audience
    }

    /// Records the time when a page of a notification was sent. After a restart, the time of the next page is computed
    /// from the recorded time.
    func recordSending(of notification: Int64, at sentAt: Timestamp) {
        session.run(
            """
            UPDATE notifications SET sent_at = greatest(coalesce(sent_at, $3), $3) WHERE shard = $1 AND sequence = $2
            """, notification, sentAt)
    }

    func correctLastSending(of notification: Int64, at now: Timestamp) {
        session.run(
            "UPDATE notifications SET sent_at = $3 WHERE shard = $1 AND sequence = $2 AND sent_at > $3", notification,
            now)
    }

    // MARK: Canaries

    /// Stores the threshold of a canary's sample and the size of the audience, unless they are stored already. If the
    /// sample is the whole audience, removes the part of the rest.
    func setSample(_ sample: CountedSample, of notification: Int64) throws(StorageError) -> RolloutRecord? {
        let changes = try session.changes(
            """
            UPDATE notifications SET sample_threshold = $3, audience = $4
            WHERE shard = $1 AND sequence = $2 AND sample_threshold IS NULL AND \(Self.isRollout)
            """, notification, Int64(bitPattern: sample.threshold), sample.audience)
        if changes == 1, sample.isWholeAudience { PartTable(session).removeRest(of: notification) }
        return try record(of: notification)
    }

    /// Records the time when a canary's sample has been sent. Does nothing if other deliveries of the sample have pages
    /// left, or if a time is recorded already.
    func recordSampleEnd(of notification: Int64, at timestamp: Timestamp) {
        session.run(
            """
            UPDATE notifications n SET held_at = $3 WHERE n.shard = $1 AND n.sequence = $2 AND n.held_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.shard = $1 AND d.notification = $2
                    AND d.side = $4 AND NOT d.is_fanned_out AND NOT d.is_final)
            """, notification, timestamp, SampleSide.sample.rawValue)
    }

    /// Releases the rest of a canary, if the canary holds: opens the gate of the part of the rest.
    func release(_ notification: Int64, at now: Timestamp) throws(StorageError) {
        guard try PartTable(session).hasGate(notification) else { return }
        let changes = try session.changes(
            """
            UPDATE notifications SET released_at = $3
            WHERE shard = $1 AND sequence = $2 AND held_at IS NOT NULL AND released_at IS NULL
            """, notification, now)
        guard changes == 1 else { return }
        PartTable(session).open(of: notification, onlyGates: true, at: now)
        try resetCounts(notification)
    }

    /// Corrects the times at which the shard's canaries began to hold or were opened, after the clock was set back.
    func correctHolds(at now: Timestamp) {
        session.run(
            """
            UPDATE notifications SET held_at = least(held_at, $2), judged_at = NULL
            WHERE shard = $1 AND held_at + wait > $2 AND released_at IS NULL AND finished_at IS NULL
                AND (held_at > $2 OR judged_at IS NOT NULL)
            """, now)
        PartTable(session).correctOpenings(at: now)
    }

    func recordWaitingForAnswers(of notification: Int64, at now: Timestamp) {
        session.run("UPDATE notifications SET judged_at = $3 WHERE shard = $1 AND sequence = $2", notification, now)
    }

    /// Resets the counts of the halt rule: pushes that have ended so far are no longer counted.
    func resetCounts(_ notification: Int64) throws(StorageError) {
        let outcomes = try session.all(
            """
            SELECT c.outcome, sum(c.count)::int8
            FROM deliveries d JOIN outcome_counts c ON c.shard = $1 AND c.delivery = d.id
            WHERE d.shard = $1 AND d.notification = $2 GROUP BY c.outcome
            """, notification
        ) { (OutcomeName(rawValue: $0.text(0)), Int($0.integer(1))) }
        let counts = SendCounts(Dictionary(uniqueKeysWithValues: outcomes))
        session.run(
            "UPDATE notifications SET succeeded = $3, failed = $4 WHERE shard = $1 AND sequence = $2", notification,
            counts.succeeded, counts.failed)
    }
}
