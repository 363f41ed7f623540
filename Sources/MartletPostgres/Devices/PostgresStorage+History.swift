public import MartletCore
public import MartletModel

extension PostgresStorage {
    /// Returns the history of a registration, or of all registrations of an installation (`TraceStore.past`).
    public func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        let shard = Shard(hub)
        var batch = Batch(HistoryStatements.start) { $0.add(shard.number) }
        batch.add(DeviceReads.byID) {
            $0.add(shard.number)
            $0.add([StoredForm.id(device)])
        }
        batch.add(HistoryStatements.byID) {
            $0.add(shard.number)
            $0.add(StoredForm.id(device))
            $0.add(Int64(RegistrationPast.limit))
        }
        batch.add(DeviceReads.byInstallation) {
            $0.add(shard.number)
            $0.add([Array(device.utf8)])
        }
        batch.add(HistoryStatements.byInstallation) {
            $0.add(shard.number)
            $0.add(Array(device.utf8))
            $0.add(Int64(RegistrationPast.limit))
        }
        let rows = try await read(batch)
        guard rows[0].count == 1 else { return RegistrationPast(versions: [], knownSince: 0) }
        let isRegistration = rows[1].count + rows[2].count > 0
        return try await past(
            present: rows[isRegistration ? 1 : 3], past: rows[isRegistration ? 2 : 4],
            since: rows[0][0].integer(0), in: shard)
    }

    /// Returns earlier versions of registrations that had a tag (`SendListStore.formerRegistrations`).
    public func formerRegistrations(
        with tag: Tag, in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> FormerRegistrations {
        let shard = Shard(hub)
        let newest = try await read(Batch(HistoryStatements.newest) { $0.add(shard.number) })[0]
        guard newest.count == 1 else { return FormerRegistrations(versions: [], lookedBackTo: nil, next: nil) }
        let before = min(before ?? .max, newest[0].integer(0) + 1)
        let floor = before - window
        var batch = Batch(HistoryStatements.window) {
            $0.add(shard.number)
            $0.add(before)
            $0.add(floor)
        }
        batch.add(HistoryStatements.beforeWindow) {
            $0.add(shard.number)
            $0.add(floor)
        }
        let rows = try await read(batch)
        let ended = (0..<rows[0].count).map { EndedRegistration(rows[0][$0]) }
        let registrations = try await registrations(ended.map(\.registration), in: shard)
        var versions: [RegistrationVersion] = []
        for (stored, registration) in zip(ended, registrations) where registration.tags.contains(tag) {
            versions.append(try stored.version(registration))
        }
        return FormerRegistrations(
            versions: versions, lookedBackTo: ended.last?.at, next: rows[1].count == 0 ? nil : floor)
    }

    private func past(
        present: Rows, past: Rows, since start: Int64, in shard: Shard
    ) async throws(StorageError) -> RegistrationPast {
        // The rows are sorted from the newest state to the oldest.
        let ended = (0..<past.count).reversed().map { EndedRegistration(past[$0]) }
        let current = (0..<present.count).map { StoredRegistration(present[$0]) }
        let registrations = try await registrations(ended.map(\.registration) + current, in: shard)
        var versions: [RegistrationVersion] = []
        for (stored, registration) in zip(ended, registrations) {
            versions.append(try stored.version(registration))
        }
        for (stored, registration) in zip(current, registrations.dropFirst(ended.count)) {
            versions.append(
                RegistrationVersion(
                    sequence: stored.sequence, channel: ChannelID(rawValue: stored.channel), registration, end: nil))
        }
        let oldest = past.count == RegistrationPast.limit ? ended.first?.change : nil
        return RegistrationPast(versions: versions, knownSince: max(start, oldest ?? 0))
    }
}

/// A row of the history.
private struct EndedRegistration {
    var registration: StoredRegistration
    var change: Int64
    var at: Timestamp
    var cause: String

    init(_ row: Row) {
        registration = StoredRegistration(row)
        change = row.integer(17)
        at = row.timestamp(18)
        cause = row.text(19)
    }

    func version(_ registration: Registration) throws(StorageError) -> RegistrationVersion {
        guard let cause = RegistrationEnding(rawValue: cause) else {
            throw StorageError(.corrupt, "A stored registration ended in an unknown way; restore a backup.")
        }
        return RegistrationVersion(
            sequence: self.registration.sequence, channel: ChannelID(rawValue: self.registration.channel), registration,
            end: RegistrationVersion.End(change: change, at: at, cause: cause))
    }
}

enum HistoryStatements {
    static let start = Statement.hot([.int4], "SELECT history_start FROM ordinals WHERE shard = $1")

    /// The columns of a registration in the order of `StoredRegistration.columns`, and the change, time and cause that
    /// ended the state. The scope is computed from the platform, and from whether the state has a template.
    private static let columns = """
        h.sequence, h.platform * 2 + (CASE WHEN h.template IS NULL THEN 0 ELSE 1 END), h.channel, h.id, h.handle, h.tags,
        h.spelled_tags, 0::int8, h.created_at, h.created_at, h.expires_at, h.template, h.variables, NULL::bytea,
        CASE WHEN h.installation IS NULL THEN NULL ELSE 0::int8 END, h.installation, ''::bytea, h.change, h.ended_at,
        h.cause
        """

    static let newest = Statement.rare(
        [.int4], "SELECT change FROM registration_history WHERE shard = $1 ORDER BY change DESC LIMIT 1")

    static let window = Statement.rare(
        [.int4, .int8, .int8],
        """
        SELECT \(columns) FROM registration_history h WHERE h.shard = $1 AND h.change < $2 AND h.change >= $3
        ORDER BY h.change DESC
        """)

    static let beforeWindow = Statement.rare(
        [.int4, .int8], "SELECT 1 FROM registration_history WHERE shard = $1 AND change < $2 LIMIT 1")

    static let byID = Statement.hot(
        [.int4, .bytes, .int8],
        """
        SELECT \(columns) FROM registration_history h WHERE h.shard = $1 AND h.id = $2 ORDER BY h.change DESC LIMIT $3
        """)

    static let byInstallation = Statement.hot(
        [.int4, .bytes, .int8],
        """
        SELECT \(columns) FROM registration_history h WHERE h.shard = $1 AND h.installation = $2
        ORDER BY h.change DESC LIMIT $3
        """)
}
