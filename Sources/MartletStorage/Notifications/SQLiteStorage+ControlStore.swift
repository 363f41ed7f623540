public import MartletCore
public import MartletModel

extension SQLiteStorage: ControlStore {
    public func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        try await writer.write { connection throws(StorageError) in
            try ControlTable(connection).apply(wish, to: id, in: hub, at: now)
        }
    }

    public func controlled() async throws(StorageError) -> [ControlledNotification] {
        try await readers.read { connection throws(StorageError) in try ControlTable(connection).controlled() }
    }

    public func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        try await readers.read { connection throws(StorageError) in try ControlTable(connection).hasEnded(sequence) }
    }

    public func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        try await writer.write { connection throws(StorageError) in
            try RolloutTable(connection).setAudience(count, of: sequence)
        }
    }

    public func setSample(
        _ sample: CountedSample, ofRollout sequence: Int64
    ) async throws(StorageError) -> RolloutRecord? {
        try await writer.write { connection throws(StorageError) in
            try RolloutTable(connection).setSample(sample, of: sequence)
        }
    }

    public func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] {
        try await readers.read { connection throws(StorageError) in
            try RolloutTable(connection).canariesDue(at: now, limit: limit)
        }
    }

    public func correctHolds(at now: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try RolloutTable(connection).correctHolds(at: now)
        }
    }

    public func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try RolloutTable(connection).recordWaitingForAnswers(of: sequence, at: now)
        }
    }

    public func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        try await readers.read { connection throws(StorageError) in try RolloutTable(connection).record(of: sequence) }
    }

    public func correctLastSending(ofRollout sequence: Int64, at now: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try RolloutTable(connection).correctLastSending(of: sequence, at: now)
        }
    }

    public func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).status(id, in: hub)
        }
    }
}
