import MartletCore
import MartletModel

/// Stores pauses and quarantines of lanes.
struct LaneTable {
    private let session: ShardSession

    /// A pause of an origin is stored only while the hub has fewer than this many pauses, and a quarantine only while
    /// the hub has fewer than this many quarantines. Browsers and devices choose their origins, so without a limit they
    /// could make the tables arbitrarily large.
    private static let limit = 4096

    init(_ session: ShardSession) {
        self.session = session
    }

    /// Stores the pauses and quarantines that a step began, and removes the quarantines that it ended.
    func record(_ step: DeliveryStep, on platform: PlatformID) {
        for pause in step.pauses {
            session.run(
                """
                INSERT INTO lane_pauses (shard, platform, origin, until, outcome, reason)
                SELECT $1, $2, $3, $4, $5, $6
                WHERE $3 = ''::bytea OR (SELECT count(*) FROM lane_pauses l WHERE l.shard = $1) < $7
                ON CONFLICT (shard, platform, origin) DO UPDATE SET until = greatest(lane_pauses.until, excluded.until),
                    outcome = excluded.outcome, reason = excluded.reason
                """, platform.rawValue, ByteText(pause.origin ?? ""), pause.until, pause.outcome.rawValue,
                ByteText(pause.reason), Self.limit)
        }
        for (application, isQuarantined) in step.quarantines {
            guard isQuarantined else {
                session.run(
                    "DELETE FROM quarantines WHERE shard = $1 AND platform = $2 AND application = $3",
                    platform.rawValue,
                    ByteText(application))
                continue
            }
            session.run(
                """
                INSERT INTO quarantines (shard, platform, application) SELECT $1, $2, $3
                WHERE (SELECT count(*) FROM quarantines q WHERE q.shard = $1) < $4
                ON CONFLICT (shard, platform, application) DO NOTHING
                """, platform.rawValue, ByteText(application), Self.limit)
        }
    }

    func forgetPauses() {
        session.run("DELETE FROM lane_pauses WHERE shard = $1")
    }
}
