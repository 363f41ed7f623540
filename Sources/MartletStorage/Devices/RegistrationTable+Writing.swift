import MartletCore
import MartletModel

extension RegistrationTable {
    /// Creates or replaces a registration, whether it belongs to an installation or not.
    /// - Parameters:
    ///   - channel: The channel of the draft's handle.
    ///   - old: The stored registration that is replaced; nil for a new one.
    ///   - row: The installation to which the registration belongs, and its slot there; nil if it belongs to none.
    func write(
        _ draft: RegistrationDraft, id: String, _ channel: ChannelID, over old: StoredRegistration?,
        row: InstallationReference? = nil, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> StoredRegistration {
        var new = Self.stored(draft, id: id, channel, over: old, row: row, in: hub, at: now)
        try useContents(of: &new, over: old)
        if let old {
            try update(new, from: old, .changed)
            try releaseContents(of: old, over: new)
        } else {
            new.index.registration = try insert(new)
            try tags.insert(new.index, names: StoredRegistration.names(of: draft.tags))
        }
        if draft.takesHandle { try removeOthers(than: new, at: now) }
        return new
    }

    /// Returns the registration that a draft describes. The ids of its contents are not set yet. Neither is the
    /// sequence number, if the registration is new.
    static func stored(
        _ draft: RegistrationDraft, id: String, _ channel: ChannelID, over old: StoredRegistration?,
        row: InstallationReference?, in hub: Hub.ID, at now: Timestamp
    ) -> StoredRegistration {
        let registration = Registration(
            id: id, platform: draft.platform, handle: draft.handle, tags: draft.tags, template: draft.template,
            pushVariables: draft.pushVariables, secondaryTile: draft.secondaryTile, installation: row?.id,
            version: (old?.registration.version ?? 0) + 1, expiresAt: draft.expiresAt,
            createdAt: old?.registration.createdAt ?? now, updatedAt: now)
        let scope = TagScope(hub: hub, platform: draft.platform, kind: draft.template == nil ? .native : .template)
        return StoredRegistration(
            index: TagMembership(scope: scope, channel: channel, registration: old?.sequence ?? 0),
            registration: registration, row: row)
    }

    /// Removes a registration. A registration that belongs to an installation leaves a dead slot (`recordClosed`). Any
    /// other registration leaves a tombstone, so that later requests for its id are answered with "gone".
    func remove(
        _ stored: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp
    ) throws(StorageError) {
        try erase(stored, cause, at: now)
        if let row = stored.row {
            try recordClosed(row)
        } else {
            try connection.run(
                "INSERT OR REPLACE INTO tombstones (hub, id, gone_at) VALUES (?, ?, ?)",
                stored.index.scope.hub.rawValue,
                StoredID(stored.registration.id), now)
        }
    }

    /// Removes a registration and, if it was the channel's last, the channel. The history keeps its former state.
    /// Leaves neither a tombstone nor a dead slot.
    func erase(
        _ stored: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp
    ) throws(StorageError) {
        try history.insert(stored, cause, at: now)
        try tags.remove(stored.index, names: StoredRegistration.names(of: stored.registration.tags))
        try connection.run("DELETE FROM registrations WHERE sequence = ?", stored.sequence)
        try contents.release(stored.template)
        try contents.release(stored.variables)
        try channels.removeIfUnused(stored.index.channel)
    }

    /// Updates a stored registration. The history keeps the former state if the push service replaced the handle
    /// (`.moved`), or if `isSentOtherwise` returns true. Most updates repeat the stored values; they use the first,
    /// cheaper statement.
    func update(
        _ new: StoredRegistration, from old: StoredRegistration, _ cause: RegistrationEnding
    ) throws(StorageError) {
        let registration = new.registration
        if cause == .moved || isSentOtherwise(new, than: old) {
            try history.insert(old, cause, at: registration.updatedAt)
        }
        if new.index == old.index, registration.expiresAt == old.registration.expiresAt, new.template == old.template,
            new.variables == old.variables, registration.secondaryTile == old.registration.secondaryTile
        {
            // This statement sets no indexed column. If it did, SQLite would write all indexes again.
            try connection.run(
                "UPDATE registrations SET version = ?, tags = ?, updated_at = ? WHERE sequence = ?",
                registration.version, StoredRegistration.text(registration.tags), registration.updatedAt, new.sequence)
        } else {
            try connection.run(
                """
                UPDATE registrations SET channel = ?, version = ?, tags = ?, updated_at = ?, expires_at = ?,
                    template = ?, variables = ?, secondary_tile = ? WHERE sequence = ?
                """, new.index.channel.rawValue, registration.version, StoredRegistration.text(registration.tags),
                registration.updatedAt, registration.expiresAt, new.template, new.variables, registration.secondaryTile,
                new.sequence)
        }
        try moveTags(to: new, from: old)
        if new.index.channel != old.index.channel { try channels.removeIfUnused(old.index.channel) }
    }

    /// Returns true if an update changes which sends a registration gets, on which channel, or with which content. The
    /// history then needs the former state, because traces and retries look up the state that a registration had at an
    /// earlier time.
    ///
    /// The name of a secondary tile does not count: a tile has a handle of its own, so its name changes no send.
    ///
    /// A new expiry alone is no reason to keep the former state. An expired registration is never updated, so the
    /// registration was valid until the update. The updated row also shows the registration as valid at that time,
    /// because the new expiry is later than the update.
    private func isSentOtherwise(_ new: StoredRegistration, than old: StoredRegistration) -> Bool {
        if new.index != old.index || new.template != old.template || new.variables != old.variables { return true }
        let (tags, oldTags) = (new.registration.tags, old.registration.tags)
        return tags != oldTags && Set(tags) != Set(oldTags)
    }

    private func insert(_ new: StoredRegistration) throws(StorageError) -> Int64 {
        let registration = new.registration
        try connection.run(
            """
            INSERT INTO registrations (hub, id, channel, version, tags, created_at, updated_at, expires_at, template,
                variables, secondary_tile, installation, slot)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, new.index.scope.hub.rawValue, StoredID(registration.id), new.index.channel.rawValue,
            registration.version, StoredRegistration.text(registration.tags), registration.createdAt,
            registration.updatedAt, registration.expiresAt, new.template, new.variables, registration.secondaryTile,
            new.row?.installation, new.row?.slot)
        return connection.lastInsertedRow
    }

    func useContents(of new: inout StoredRegistration, over old: StoredRegistration?) throws(StorageError) {
        let hub = new.index.scope.hub
        if let old, old.registration.template == new.registration.template {
            new.template = old.template
        } else {
            if let template = new.registration.template {
                new.template = try contents.use(TemplateCoding.encode(template), in: hub)
            }
        }
        if let old, old.registration.pushVariables == new.registration.pushVariables {
            new.variables = old.variables
        } else {
            if !new.registration.pushVariables.isEmpty {
                new.variables = try contents.use(StringMapCoding.encode(new.registration.pushVariables), in: hub)
            }
        }
    }

    /// Releases the template and the push variables that a changed registration does not use any more. The caller must
    /// call `update` first, because `update` lets the history count its own use of the template and the variables.
    /// Without this use, `release` would remove them.
    private func releaseContents(of old: StoredRegistration, over new: StoredRegistration) throws(StorageError) {
        if new.template != old.template { try contents.release(old.template) }
        if new.variables != old.variables { try contents.release(old.variables) }
    }

    private func moveTags(to new: StoredRegistration, from old: StoredRegistration) throws(StorageError) {
        if new.index == old.index, new.registration.tags == old.registration.tags { return }
        let before = StoredRegistration.names(of: old.registration.tags)
        let after = StoredRegistration.names(of: new.registration.tags)
        if old.index == new.index {
            try tags.remove(old.index, names: before.subtracting(after))
            try tags.insert(new.index, names: after.subtracting(before))
        } else {
            try tags.remove(old.index, names: before)
            try tags.insert(new.index, names: after)
        }
    }

    /// Removes all registrations of the channel of `kept`, except `kept` itself and the registrations of its
    /// installation, which share the handle.
    private func removeOthers(than kept: StoredRegistration, at now: Timestamp) throws(StorageError) {
        for other in try registrations(of: kept.index.channel) where other.sequence != kept.sequence {
            if let row = kept.row, other.row?.installation == row.installation { continue }
            try remove(other, .taken, at: now)
        }
    }
}
