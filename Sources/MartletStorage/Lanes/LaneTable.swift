import MartletCore
import MartletModel

/// Stores and reads pauses and quarantines of lanes, on one connection.
struct LaneTable {
    private let connection: Connection

    /// A pause of an origin is stored only while fewer than this many pauses are stored. Browsers and devices choose
    /// their origins, so without a limit they could make the table arbitrarily large.
    static let pauseLimit = 4096
    /// The maximum number of stored quarantines. Senders choose applications (such as APNs topics), and browsers and
    /// devices choose origins, so without a limit they could make the table arbitrarily large.
    static let quarantineLimit = 4096

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Stores the pauses and quarantines that a step began, and removes the quarantines that it ended.
    func record(_ step: DeliveryStep) throws(StorageError) {
        guard !step.pauses.isEmpty || !step.quarantines.isEmpty else { return }
        for pause in step.pauses { try record(pause, of: step.delivery) }
        for (application, isQuarantined) in step.quarantines {
            try connection.run(
                isQuarantined
                    ? """
                    INSERT OR IGNORE INTO quarantines (hub, platform, application)
                    SELECT hub, platform, ?2 FROM (\(Self.lane)) WHERE (SELECT count(*) FROM quarantines) < \(Self.quarantineLimit)
                    """
                    : "DELETE FROM quarantines WHERE (hub, platform) IN (\(Self.lane)) AND application = ?2",
                step.delivery.rawValue, application)
        }
    }

    private static let lane = """
        SELECT n.hub AS hub, d.platform AS platform FROM deliveries d JOIN notifications n ON n.sequence = d.notification
            WHERE d.id = ?1
        """

    private func record(_ pause: LanePause, of delivery: Delivery.ID) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO lane_pauses (hub, platform, origin, until, outcome, reason)
            SELECT hub, platform, ?2, ?3, ?4, ?5 FROM (\(Self.lane))
                WHERE ?2 = '' OR (SELECT count(*) FROM lane_pauses) < \(Self.pauseLimit)
            ON CONFLICT (hub, platform, origin) DO UPDATE SET until = max(until, excluded.until),
                outcome = excluded.outcome, reason = excluded.reason
            """, delivery.rawValue, pause.origin ?? "", pause.until, pause.outcome.rawValue, pause.reason)
    }

    func memories(at now: Timestamp) throws(StorageError) -> [PersistedLaneState] {
        var memories: [LaneID: PersistedLaneState] = [:]
        let pauses = try connection.all(
            "SELECT hub, platform, origin, until, outcome, reason FROM lane_pauses WHERE until > ?", now
        ) { row in
            let origin = row.text(2)
            let pause = LanePause(
                origin: origin.isEmpty ? nil : origin, until: row.timestamp(3),
                outcome: OutcomeName(rawValue: row.text(4)), reason: row.text(5))
            return (lane: Self.lane(row), pause: pause)
        }
        for (lane, pause) in pauses { memories[lane, default: PersistedLaneState(lane: lane)].pauses.append(pause) }
        let quarantines = try connection.all("SELECT hub, platform, application FROM quarantines") { row in
            (lane: Self.lane(row), application: row.text(2))
        }
        for (lane, application) in quarantines {
            memories[lane, default: PersistedLaneState(lane: lane)].quarantines.append(application)
        }
        return Array(memories.values)
    }

    func forgetPauses(of hub: Hub.ID) throws(StorageError) {
        try connection.run("DELETE FROM lane_pauses WHERE hub = ?", hub.rawValue)
    }

    /// Removes pauses that have ended.
    /// - Returns: The number of removed pauses.
    func removeOldPauses(at now: Timestamp, limit: Int) throws(StorageError) -> Int {
        try connection.run(
            """
            DELETE FROM lane_pauses WHERE (hub, platform, origin) IN
                (SELECT hub, platform, origin FROM lane_pauses WHERE until <= ? ORDER BY until LIMIT ?)
            """, now, limit)
        return connection.changes
    }

    private static func lane(_ row: Statement) -> LaneID {
        LaneID(hub: Hub.ID(rawValue: row.integer(0)), platform: PlatformID(rawValue: row.text(1)))
    }
}
