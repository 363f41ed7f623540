public import MartletCore
public import MartletModel

extension PostgresStorage: ControlStore {
    public func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        let work: @Sendable (ShardSession) throws(StorageError) -> ControlChange = {
            [cache] session throws(StorageError) in
            try ControlTable(session, cache).apply(wish, to: id, at: now)
        }
        // A roll-out itself asks for its halt or release, on the node that sends it. That node owns the hub.
        if wish == .halt || wish == .release { return try await writeAsOwner(Shard(hub), work) ?? .ended }
        return try await write(Shard(hub), elsewhere: .control, work)
    }

    public func controlled() async throws(StorageError) -> [ControlledNotification] {
        let rows = try await read(Batch(NotificationStatements.controlled) { $0.add(nodes.incarnation) })[0]
        var found: [ControlledNotification] = []
        for index in 0..<rows.count {
            found.append(
                ControlledNotification(
                    notification: rows[index].integer(1), hub: Shard(number: rows[index].integer32(0)).hub,
                    control: try NotificationControl(stored: rows[index].text(2))))
        }
        return found
    }

    public func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        try await read(Shard(ofComposed: sequence)) { session throws(StorageError) in
            try session.first(
                """
                SELECT n.finished_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM send_ordinals o WHERE o.shard = $1)
                FROM notifications n WHERE n.shard = $1 AND n.sequence = $2
                """, sequence
            ) { $0.bool(0) } ?? true
        }
    }

    public func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        try await writeAsOwner(Shard(ofComposed: sequence)) { session throws(StorageError) in
            try RolloutTable(session).setAudience(count, of: sequence)
        } ?? nil
    }

    public func setSample(
        _ sample: CountedSample, ofRollout sequence: Int64
    ) async throws(StorageError) -> RolloutRecord? {
        try await writeAsOwner(Shard(ofComposed: sequence)) { session throws(StorageError) in
            try RolloutTable(session).setSample(sample, of: sequence)
        } ?? nil
    }

    public func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] {
        let batch = Batch(NotificationStatements.canariesDue) {
            $0.add(now)
            $0.add(Int64(limit))
            $0.add(nodes.incarnation)
        }
        let rows = try await read(batch)[0]
        var found: [HeldCanary] = []
        for index in 0..<rows.count {
            var columns = ColumnReader(rows[index], from: 1)
            found.append(
                HeldCanary(
                    notification: columns.integer(), id: try columns.notificationID(),
                    hub: Shard(number: rows[index].integer32(0)).hub))
        }
        return found
    }

    public func correctHolds(at now: Timestamp) async throws(StorageError) {
        let batch = Batch(NotificationStatements.holding) {
            $0.add(now)
            $0.add(nodes.incarnation)
        }
        let rows = try await read(batch)[0]
        for index in 0..<rows.count {
            _ = try await writeAsOwner(Shard(number: rows[index].integer32(0))) { session in
                RolloutTable(session).correctHolds(at: now)
            }
        }
    }

    public func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        _ = try await writeAsOwner(Shard(ofComposed: sequence)) { session in
            RolloutTable(session).recordWaitingForAnswers(of: sequence, at: now)
        }
    }

    public func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        try await read(Shard(ofComposed: sequence)) { session throws(StorageError) in
            try RolloutTable(session).record(of: sequence)
        }
    }

    public func correctLastSending(ofRollout sequence: Int64, at now: Timestamp) async throws(StorageError) {
        _ = try await writeAsOwner(Shard(ofComposed: sequence)) { session in
            RolloutTable(session).correctLastSending(of: sequence, at: now)
        }
    }

    public func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await read(Shard(hub), isConsistent: true) { [cache] session throws(StorageError) in
            try NotificationTable(session, cache).status(id)
        }
    }
}
