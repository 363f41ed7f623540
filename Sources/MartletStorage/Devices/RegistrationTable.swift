import MartletCore
import MartletModel

/// Registrations with their channels and tags, on one connection: what writes do.
struct RegistrationTable {
    let connection: Connection
    let channels: ChannelTable
    let tags: TagTable

    init(_ connection: Connection) {
        self.connection = connection
        channels = ChannelTable(connection)
        tags = TagTable(connection)
    }

    func apply(
        _ change: RegistrationChange, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Result<Registration, RegistrationRefusal> {
        switch change {
        case .put(let draft, let id, let condition):
            let stored = try find(id, in: hub)
            if let refusal = try refusal(of: condition, stored, id, hub, now, creates: true) {
                return .failure(refusal)
            }
            return .success(try put(draft, over: stored, id: id, in: hub, at: now))
        case .delete(let id, let condition):
            let stored = try find(id, in: hub)
            if let refusal = try refusal(of: condition, stored, id, hub, now, creates: false) {
                return .failure(refusal)
            }
            guard let stored else { return .failure(.notFound) }
            try remove(stored, at: now)
            return .success(stored.registration)
        }
    }

    /// - Parameter creates: Whether the write makes sense where there is no such registration.
    private func refusal(
        of condition: WriteCondition, _ stored: StoredRegistration?, _ id: String, _ hub: Hub.ID, _ now: Timestamp,
        creates: Bool
    ) throws(StorageError) -> RegistrationRefusal? {
        guard let stored else {
            if try isGone(id, in: hub) { return .gone }
            guard creates, try hubExists(hub) else { return .notFound }
            switch condition {
            case .none, .tagged: return nil
            case .exists, .version: return .notFound
            }
        }
        guard !stored.isExpired(at: now) else { return .gone }
        return switch condition {
        case .none, .exists: nil
        case .version(let version): version == stored.registration.version ? nil : .versionMismatch
        case .tagged(let tag): stored.registration.tags.contains(tag) ? nil : .notTagged
        }
    }

    private func put(
        _ draft: RegistrationDraft, over old: StoredRegistration?, id: String, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Registration {
        let channel = try channels.register(
            draft.handle, key: draft.handleKey, hub: hub, platform: draft.platform, at: now)
        let registration = Registration(
            id: id, platform: draft.platform, handle: draft.handle, tags: draft.tags,
            version: (old?.registration.version ?? 0) + 1, expiresAt: draft.expiresAt,
            createdAt: old?.registration.createdAt ?? now, updatedAt: now)
        let sequence: Int64
        if let old {
            sequence = old.sequence
            try update(registration, sequence: sequence, channel: channel)
        } else {
            sequence = try insert(registration, in: hub, channel: channel)
        }
        let place = TagPlace(hub: hub, platform: draft.platform, channel: channel, registration: sequence)
        try moveTags(of: registration, to: place, from: old)
        if let old, old.place.channel != channel { try channels.removeIfUnused(old.place.channel) }
        if draft.takesHandle { try removeOthers(than: place, at: now) }
        return registration
    }

    private func insert(
        _ registration: Registration, in hub: Hub.ID, channel: ChannelID
    ) throws(StorageError) -> Int64 {
        try connection.run(
            """
            INSERT INTO registrations (hub, id, channel, version, tags, created_at, updated_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, hub.rawValue, registration.id, channel.rawValue, registration.version,
            StoredRegistration.text(registration.tags), registration.createdAt, registration.updatedAt,
            registration.expiresAt)
        return connection.lastInsertedRow
    }

    func update(
        _ registration: Registration, sequence: Int64, channel: ChannelID
    ) throws(StorageError) {
        try connection.run(
            """
            UPDATE registrations SET channel = ?, version = ?, tags = ?, updated_at = ?, expires_at = ?
            WHERE sequence = ?
            """, channel.rawValue, registration.version, StoredRegistration.text(registration.tags),
            registration.updatedAt, registration.expiresAt, sequence)
    }

    /// Writes only the tags that differ: most writes repeat what is there.
    func moveTags(
        of registration: Registration, to place: TagPlace, from old: StoredRegistration?
    ) throws(StorageError) {
        let new = StoredRegistration.names(of: registration.tags)
        guard let old else { return try tags.insert(place, names: new) }
        let before = StoredRegistration.names(of: old.registration.tags)
        if old.place == place {
            try tags.remove(place, names: before.subtracting(new))
            try tags.insert(place, names: new.subtracting(before))
        } else {
            try tags.remove(old.place, names: before)
            try tags.insert(place, names: new)
        }
    }

    private func removeOthers(than place: TagPlace, at now: Timestamp) throws(StorageError) {
        for other in try registrations(of: place.channel) where other.sequence != place.registration {
            try remove(other, at: now)
        }
    }

    func registrations(of channel: ChannelID) throws(StorageError) -> [StoredRegistration] {
        try connection.all(
            "\(StoredRegistration.selection) WHERE r.channel = ?", channel.rawValue, read: StoredRegistration.init)
    }

    func find(_ id: String, in hub: Hub.ID) throws(StorageError) -> StoredRegistration? {
        try connection.first(
            "\(StoredRegistration.selection) WHERE r.hub = ? AND r.id = ?", hub.rawValue, id,
            read: StoredRegistration.init)
    }

    /// Leaves a tombstone, and removes the channel where this was its last registration.
    func remove(_ stored: StoredRegistration, at now: Timestamp) throws(StorageError) {
        try tags.remove(stored.place, names: StoredRegistration.names(of: stored.registration.tags))
        try connection.run("DELETE FROM registrations WHERE sequence = ?", stored.sequence)
        try connection.run(
            "INSERT OR REPLACE INTO tombstones (hub, id, gone_at) VALUES (?, ?, ?)", stored.place.hub.rawValue,
            stored.registration.id, now)
        try channels.removeIfUnused(stored.place.channel)
    }

    private func isGone(_ id: String, in hub: Hub.ID) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM tombstones WHERE hub = ? AND id = ?", hub.rawValue, id
        ) { _ in true } ?? false
    }

    private func hubExists(_ hub: Hub.ID) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM hubs WHERE id = ? AND is_deleted = 0", hub.rawValue) { _ in true } ?? false
    }
}
