import MartletCore
import MartletModel

/// Stores and reads the earlier states of registrations that were changed or removed, on one connection.
struct HistoryTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Stores the state that a registration had before a change or its removal. From then on, the history counts as a
    /// user of the state's template and push variables (`ContentTable`).
    func insert(_ old: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp) throws(StorageError) {
        let registration = old.registration
        try connection.run(
            """
            INSERT INTO registration_history (hub, sequence, id, installation, platform, channel, handle, tags,
                template, variables, expires_at, created_at, ended_at, cause)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, old.index.scope.hub.rawValue, old.sequence, StoredID(registration.id), old.row?.id,
            registration.platform.rawValue, old.index.channel.rawValue, StoredHandle(registration.handle.text),
            StoredRegistration.text(registration.tags), old.template, old.variables, registration.expiresAt,
            registration.createdAt, now, cause.rawValue)
        let contents = ContentTable(connection)
        try contents.keep(old.template)
        try contents.keep(old.variables)
    }

    /// Returns the snapshot that identifies the registrations that this transaction reads: the highest numbers of
    /// registrations and of history rows so far.
    func snapshot() throws(StorageError) -> AudienceSnapshot {
        let numbers = try connection.all(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('registration_history', 'registrations')"
        ) { ($0.text(0), $0.integer(1)) }
        var snapshot = AudienceSnapshot.none
        for (name, number) in numbers {
            if name == "registrations" { snapshot.registration = number } else { snapshot.change = number }
        }
        return snapshot
    }

    func past(of device: String, in hub: Hub.ID) throws(StorageError) -> RegistrationPast {
        let start = try connection.first("SELECT change FROM registration_history_start") { $0.integer(0) } ?? 0
        var past = try past("r.hub = ? AND r.id = ?", "h.hub = ? AND h.id = ?", StoredID(device), in: hub, start)
        if past.versions.isEmpty {
            past = try self.past(
                "r.installation = (SELECT sequence FROM installations WHERE hub = ? AND id = ?)",
                "h.hub = ? AND h.installation = ?", device, in: hub, start)
        }
        return past
    }

    private func past(
        _ isPresent: String, _ isPast: String, _ device: some Bindable, in hub: Hub.ID, _ start: Int64
    ) throws(StorageError) -> RegistrationPast {
        let present = try connection.all(
            "\(StoredRegistration.selection) WHERE \(isPresent)", hub.rawValue, device, read: StoredRegistration.init)
        let past = try connection.all(
            """
            \(Self.selection) WHERE \(isPast) ORDER BY h.change DESC LIMIT ?
            """, hub.rawValue, device, RegistrationPast.limit, read: Self.version)
        let versions =
            past.reversed()
            + present.map {
                RegistrationVersion(sequence: $0.sequence, channel: $0.index.channel, $0.registration, end: nil)
            }
        let oldest = past.count == RegistrationPast.limit ? past.last?.end?.change : nil
        return RegistrationPast(versions: versions, knownSince: max(start, oldest ?? 0))
    }

    /// Returns the former states that had a tag, the newest first. The search covers at most `window` states of all
    /// hubs. The table has no index by tag, because such an index would make every change of a registration more
    /// expensive.
    func former(
        with tag: Tag, in hub: Hub.ID, before: Int64?, window: Int64
    ) throws(StorageError) -> FormerRegistrations {
        let last = try connection.first("SELECT max(change) FROM registration_history") { $0.optionalInteger(0) }
        let before = min(before ?? .max, (last.flatMap(\.self) ?? 0) + 1)
        let floor = max(1, before - window)
        let versions = try connection.all(
            """
            \(Self.selection) WHERE h.change < ?1 AND h.change >= ?2 AND +h.hub = ?3
                AND instr(lower(h.tags), lower(?4)) > 0 ORDER BY h.change DESC
            """, before, floor, hub.rawValue, tag.spelling, read: Self.version
        ).filter { $0.tags.contains(tag) }
        let oldest = try connection.first(
            "SELECT change, ended_at FROM registration_history WHERE change >= ? ORDER BY change LIMIT 1", floor
        ) { (change: $0.integer(0), at: $0.timestamp(1)) }
        let hasOlder =
            try connection.first("SELECT 1 FROM registration_history WHERE change < ? LIMIT 1", floor) { _ in true }
        return FormerRegistrations(
            versions: versions, lookedBackTo: oldest.flatMap { $0.change < before ? $0.at : nil },
            next: hasOlder == nil ? nil : floor)
    }

    private static let selection = """
        SELECT h.sequence, h.id, h.installation, h.platform, h.channel, h.handle, h.tags, h.template, t.content,
            h.variables, v.content, h.expires_at, h.created_at, h.change, h.ended_at, h.cause
        FROM registration_history h LEFT JOIN contents t ON t.id = h.template LEFT JOIN contents v ON v.id = h.variables
        """

    private static func version(_ row: Statement) throws(StorageError) -> RegistrationVersion {
        guard let cause = RegistrationEnding(rawValue: row.text(15)) else {
            throw StorageError(.corrupt, "A stored registration ended in an unknown way; restore a backup.")
        }
        let created = row.timestamp(12)
        let registration = Registration(
            id: StoredID(row, 1).text, platform: PlatformID(rawValue: row.text(3)),
            handle: PushHandle(text: StoredHandle(row, 5).text), tags: try StoredRegistration.tags(row.text(6)),
            template: row.isNull(7) ? nil : try StoredContent.template(row.bytes(8)),
            pushVariables: row.isNull(9) ? [:] : try StoredContent.variables(row.bytes(10)),
            installation: row.optionalText(2), version: 0, expiresAt: row.optionalTimestamp(11), createdAt: created,
            updatedAt: created)
        return RegistrationVersion(
            sequence: row.integer(0), channel: ChannelID(rawValue: row.integer(4)), registration,
            end: RegistrationVersion.End(change: row.integer(13), at: row.timestamp(14), cause: cause))
    }

    // MARK: Sweeping

    /// Removes the oldest states, if they ended at or before a given time.
    /// - Returns: The number of removed states, at most `limit`.
    func removeOld(before timestamp: Timestamp, limit: Int) throws(StorageError) -> Int {
        let oldest = try connection.all(
            "SELECT change, template, variables, ended_at FROM registration_history ORDER BY change LIMIT ?", limit
        ) { row in
            (
                change: row.integer(0), template: row.optionalInteger(1), variables: row.optionalInteger(2),
                isOld: row.timestamp(3) <= timestamp
            )
        }
        return try remove(oldest.prefix(while: \.isOld).map { ($0.change, $0.template, $0.variables) })
    }

    /// Removes the oldest states, so that only the newest `most` are left.
    /// - Returns: The number of removed states, at most `limit`.
    func removeSurplus(over most: Int, limit: Int) throws(StorageError) -> Int {
        try remove(
            try connection.all(
                """
                SELECT change, template, variables FROM registration_history
                WHERE change <= (SELECT max(change) FROM registration_history) - ? ORDER BY change LIMIT ?
                """, most, limit
            ) { row in (row.integer(0), row.optionalInteger(1), row.optionalInteger(2)) })
    }

    private func remove(
        _ rows: [(change: Int64, template: Int64?, variables: Int64?)]
    ) throws(StorageError) -> Int {
        guard let last = rows.last else { return 0 }
        let contents = ContentTable(connection)
        for row in rows {
            try contents.release(row.template)
            try contents.release(row.variables)
        }
        try connection.run(
            """
            DELETE FROM former_channels WHERE id IN (SELECT channel FROM registration_history WHERE change <= ?1)
                AND NOT EXISTS (SELECT 1 FROM registration_history h WHERE h.channel = former_channels.id AND h.change > ?1)
            """, last.change)
        try connection.run("DELETE FROM registration_history WHERE change <= ?", last.change)
        try connection.run("UPDATE registration_history_start SET change = ?", last.change)
        return rows.count
    }
}
