import MartletCore
import MartletModel

/// Stores and reads installations with their registrations, on one connection.
struct InstallationTable {
    private let connection: Connection
    private let registrations: RegistrationTable

    /// - Parameter memory: A cache for a call with several changes in one hub; nil for a single change.
    init(_ connection: Connection, _ memory: WriteCache? = nil) {
        self.connection = connection
        registrations = RegistrationTable(connection, memory)
    }

    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        switch change {
        case .put(let draft, let condition):
            let found = try find(draft.id, in: hub)
            let old = found.flatMap { $0.isExpired(at: now) ? nil : $0 }
            if let refusal = refusal(of: condition, old) { return .failure(refusal) }
            guard try prepare(found, old, in: hub, at: now) else { return .failure(.notFound) }
            return .success(try put(draft, over: old, in: hub, at: now))
        case .delete(let id, let condition):
            guard let old = try find(id, in: hub), !old.isExpired(at: now) else { return .failure(.notFound) }
            if let refusal = refusal(of: condition, old) { return .failure(refusal) }
            let record = try complete(old)
            try remove(old.sequence, .deleted, at: now)
            return .success(record)
        }
    }

    /// Writes one registration of an installation. The other registrations of the installation change only their
    /// expiry.
    func apply(
        _ merge: InstallationMerge, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Result<Registration, RegistrationRefusal> {
        let id = merge.part.installation
        let found = try find(id, in: hub)
        let old = found.flatMap { $0.isExpired(at: now) ? nil : $0 }
        let rows = old == nil ? [] : try registrations.registrations(ofInstallation: old?.sequence ?? 0)
        let stored = rows.first { $0.row?.slot == merge.row.slot }
        if merge.updatesOnly, stored == nil { return .failure(.notFound) }
        let document: [UInt8]
        do throws(InstallationError) {
            document = try merge.document(over: old?.record.document)
        } catch {
            return .failure(.notMergeable(error.description))
        }
        guard try prepare(found, old, in: hub, at: now) else { return .failure(.notFound) }
        let sequence = try write(document, of: merge, over: old, in: hub, at: now)
        let draft = merge.row.registration
        let registrationID =
            if let stored { stored.registration.id } else { try freeID(merge.registrationID, in: hub) }
        let row = InstallationReference(installation: sequence, id: id, slot: merge.row.slot)
        return .success(
            try registrations.write(
                draft, id: registrationID, try registrations.channels.register(draft, in: hub, at: now), over: stored,
                row: row, in: hub, at: now
            ).registration)
    }

    /// Writes the document of an installation into which a registration was merged.
    /// - Returns: The sequence number of the installation.
    private func write(
        _ document: [UInt8], of merge: InstallationMerge, over old: StoredInstallation?, in hub: Hub.ID,
        at now: Timestamp
    ) throws(StorageError) -> Int64 {
        let expiresAt = merge.row.registration.expiresAt
        let record = InstallationRecord(
            id: merge.part.installation, document: document, version: (old?.record.version ?? 0) + 1,
            expiresAt: expiresAt, handles: [:], deadSlots: [], createdAt: old?.record.createdAt ?? now, updatedAt: now)
        guard let old else { return try insert(record, in: hub) }
        try update(record, from: old)
        try connection.run(
            "DELETE FROM dead_slots WHERE installation = ? AND slot = ?", old.sequence, merge.row.slot)
        if expiresAt != old.record.expiresAt {
            try connection.run(
                "UPDATE registrations SET expires_at = ? WHERE installation = ?", expiresAt, old.sequence)
        }
        return old.sequence
    }

    private func freeID(_ wanted: String?, in hub: Hub.ID) throws(StorageError) -> String {
        guard let wanted, try registrations.find(wanted, in: hub) == nil, try !registrations.isGone(wanted, in: hub)
        else { return DeviceRegistry.newID() }
        return wanted
    }

    /// Prepares for writing an installation that does not exist or has expired: checks that its hub exists, and removes
    /// the expired installation.
    /// - Parameters:
    ///   - found: The stored installation, which may have expired.
    ///   - old: The stored installation if it has not expired; then there is nothing to prepare.
    /// - Returns: False if the hub does not exist.
    private func prepare(
        _ found: StoredInstallation?, _ old: StoredInstallation?, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Bool {
        guard old == nil else { return true }
        guard try HubTable.exists(hub, on: connection) else { return false }
        if let found { try remove(found.sequence, .expired, at: now) }
        return true
    }

    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> InstallationRecord? {
        guard let stored = try find(id, in: hub), !stored.isExpired(at: now) else { return nil }
        return try complete(stored)
    }

    /// Removes installations that have expired, with their registrations.
    /// - Returns: The number of removed installations, at most `limit`.
    func removeExpired(at now: Timestamp, limit: Int) throws(StorageError) -> Int {
        let expired = try connection.all(
            "SELECT sequence FROM installations WHERE expires_at <= ? LIMIT ?", now, limit
        ) { $0.integer(0) }
        for sequence in expired { try remove(sequence, .expired, at: now) }
        return expired.count
    }

    private func refusal(of condition: WriteCondition, _ stored: StoredInstallation?) -> RegistrationRefusal? {
        switch (condition, stored) {
        case (.none, _), (.absent, nil), (.fresh, nil), (.exists, _?): nil
        case (.absent, _?), (.fresh, _?): .versionMismatch
        case (_, nil): .notFound
        case (.version(let version), let stored?): version == stored.record.version ? nil : .versionMismatch
        // Only registrations have tags, so an installation never meets this condition.
        case (.tagged, _): .notTagged
        }
    }

    private func put(
        _ draft: InstallationDraft, over old: StoredInstallation?, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> InstallationRecord {
        let record = InstallationRecord(
            id: draft.id, document: draft.document, version: (old?.record.version ?? 0) + 1,
            expiresAt: draft.expiresAt, handles: [:], deadSlots: [], createdAt: old?.record.createdAt ?? now,
            updatedAt: now)
        var new = StoredInstallation(sequence: old?.sequence ?? 0, record: record)
        if let old {
            try update(record, from: old)
            try connection.run("DELETE FROM dead_slots WHERE installation = ?", old.sequence)
        } else {
            new.sequence = try insert(record, in: hub)
        }
        try writeRows(draft, of: new.sequence, isNew: old == nil, in: hub, at: now)
        new.record.handles = try handles(of: new.sequence)
        return new.record
    }

    private func insert(_ record: InstallationRecord, in hub: Hub.ID) throws(StorageError) -> Int64 {
        try connection.run(
            """
            INSERT INTO installations (hub, id, version, created_at, updated_at, expires_at, document)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, hub.rawValue, record.id, record.version, record.createdAt, record.updatedAt, record.expiresAt,
            record.document)
        return connection.lastInsertedRow
    }

    private func update(_ record: InstallationRecord, from old: StoredInstallation) throws(StorageError) {
        try connection.run(
            "UPDATE installations SET version = ?, updated_at = ?, document = ? WHERE sequence = ?", record.version,
            record.updatedAt, record.document, old.sequence)
        if record.expiresAt != old.record.expiresAt {
            try connection.run(
                "UPDATE installations SET expires_at = ? WHERE sequence = ?", record.expiresAt, old.sequence)
        }
    }

    private func writeRows(
        _ draft: InstallationDraft, of installation: Int64, isNew: Bool, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) {
        var old: [String: StoredRegistration] = [:]
        if !isNew {
            for stored in try registrations.registrations(ofInstallation: installation) {
                if let row = stored.row { old[row.slot] = stored }
            }
        }
        var channels = InstallationChannels(registrations.channels)
        for row in draft.rows {
            var registration = row.registration
            registration.expiresAt = draft.expiresAt
            let stored = old.removeValue(forKey: row.slot)
            _ = try registrations.write(
                registration, id: stored?.registration.id ?? DeviceRegistry.newID(),
                try channels.register(registration, in: hub, at: now), over: stored,
                row: InstallationReference(installation: installation, id: draft.id, slot: row.slot), in: hub, at: now)
        }
        // The old registrations are removed last, so that a channel is kept if one of the new registrations uses it.
        for stored in old.values { try registrations.erase(stored, .deleted, at: now) }
    }

    /// Removes an installation with its registrations. No tombstones are left, because the registrations of an
    /// installation cannot be written without the installation.
    private func remove(
        _ sequence: Int64, _ cause: RegistrationEnding, at now: Timestamp
    ) throws(StorageError) {
        for stored in try registrations.registrations(ofInstallation: sequence) {
            try registrations.erase(stored, cause, at: now)
        }
        try connection.run("DELETE FROM installations WHERE sequence = ?", sequence)
    }
}

// MARK: Reading

extension InstallationTable {
    private func find(_ id: String, in hub: Hub.ID) throws(StorageError) -> StoredInstallation? {
        try connection.first(
            """
            SELECT sequence, id, version, created_at, updated_at, expires_at, document FROM installations
            WHERE hub = ? AND id = ?
            """, hub.rawValue, id, read: StoredInstallation.init)
    }

    /// Returns the record of an installation, completed with its handles and dead slots from other tables.
    private func complete(_ stored: StoredInstallation) throws(StorageError) -> InstallationRecord {
        var record = stored.record
        record.handles = try handles(of: stored.sequence)
        record.deadSlots = Set(
            try connection.all("SELECT slot FROM dead_slots WHERE installation = ?", stored.sequence) { $0.text(0) })
        return record
    }

    private func handles(of sequence: Int64) throws(StorageError) -> [String: PushHandle] {
        let pairs = try connection.all(
            """
            SELECT r.slot, ifnull(c.handle, c.key) FROM registrations r JOIN channels c ON c.id = r.channel
            WHERE r.installation = ?
            """, sequence
        ) { ($0.text(0), PushHandle(text: StoredHandle($0, 1).text)) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}

/// An installation with its sequence number, which is used only inside storage.
private struct StoredInstallation {
    var sequence: Int64
    /// The record without handles and dead slots.
    var record: InstallationRecord

    init(sequence: Int64, record: InstallationRecord) {
        self.sequence = sequence
        self.record = record
    }

    init(_ row: Statement) throws(StorageError) {
        sequence = row.integer(0)
        record = InstallationRecord(
            id: row.text(1), document: row.bytes(6), version: row.integer(2), expiresAt: row.optionalTimestamp(5),
            handles: [:], deadSlots: [], createdAt: row.timestamp(3), updatedAt: row.timestamp(4))
    }

    func isExpired(at now: Timestamp) -> Bool {
        record.expiresAt.map { $0 <= now } ?? false
    }
}

/// Caches the channels that one write of an installation has found, so that each handle is looked up once. In most
/// installations, all registrations have the same handle.
private struct InstallationChannels {
    private let table: ChannelTable
    private var known: [(draft: RegistrationDraft, channel: ChannelID)] = []

    init(_ table: ChannelTable) {
        self.table = table
    }

    mutating func register(
        _ draft: RegistrationDraft, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> ChannelID {
        let found = known.first { $0.draft.platform == draft.platform && $0.draft.handle == draft.handle }
        if let found { return found.channel }
        let channel = try table.register(draft, in: hub, at: now)
        known.append((draft, channel))
        return channel
    }
}
