public import MartletCore
public import MartletModel

extension PostgresStorage: LaneStore {
    public func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        var batch = Batch(LaneStatements.pauses) {
            $0.add(now)
            $0.add(nodes.incarnation)
        }
        batch.add(LaneStatements.quarantines) { $0.add(nodes.incarnation) }
        let rows = try await read(batch)
        var states: [LaneID: PersistedLaneState] = [:]
        for index in 0..<rows[0].count {
            var columns = ColumnReader(rows[0][index], from: 2)
            let lane = LaneID(rows[0][index])
            let origin = columns.text()
            let pause = LanePause(
                origin: origin.isEmpty ? nil : origin, until: columns.timestamp(),
                outcome: OutcomeName(rawValue: columns.text()), reason: columns.text())
            states[lane, default: PersistedLaneState(lane: lane)].pauses.append(pause)
        }
        for index in 0..<rows[1].count {
            var columns = ColumnReader(rows[1][index], from: 2)
            let lane = LaneID(rows[1][index])
            states[lane, default: PersistedLaneState(lane: lane)].quarantines.append(columns.text())
        }
        return Array(states.values)
    }

    public func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        _ = try await writeAsOwner(Shard(hub)) { session in LaneTable(session).forgetPauses() }
    }
}

extension LaneID {
    fileprivate init(_ row: Row) {
        self.init(hub: Shard(number: row.integer32(0)).hub, platform: PlatformID(rawValue: row.text(1)))
    }
}

/// The statements that read the pauses and quarantines of a node's hubs when the node takes the hubs over. Hubs that
/// are being removed are left out.
enum LaneStatements {
    static let pauses = Statement.rare(
        [.int8, .int8],
        """
        SELECT l.shard, l.platform, l.origin, l.until, l.outcome, l.reason
        FROM lane_pauses l JOIN send_ordinals o ON o.shard = l.shard
        WHERE l.until > $1 AND o.node = $2
        """)
    static let quarantines = Statement.rare(
        [.int8],
        """
        SELECT q.shard, q.platform, q.application FROM quarantines q JOIN send_ordinals o ON o.shard = q.shard
        WHERE o.node = $1
        """)
}
