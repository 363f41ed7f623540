import MartletCore
import MartletModel

/// A draft with the number of its platform.
struct PlacedDraft: Sendable {
    var draft: RegistrationDraft
    var platform: Int32

    var key: HandleKey { HandleKey(platform: platform, key: draft.handleKey) }
    var scope: Scope { Scope(platform: platform, draft.template == nil ? .native : .template) }
}

extension DeviceSet {
    mutating func put(
        _ placed: PlacedDraft, id: String, _ condition: WriteCondition, at now: Timestamp
    ) -> Result<StoredRegistration, RegistrationRefusal> {
        let stored = find(id)
        if let refusal = refusal(of: condition, stored, id, now, creates: true) { return .failure(refusal) }
        if let row = stored?.row { close(row) }
        let channel = channel(of: placed, over: stored)
        return .success(write(placed, id: id, channel, over: stored, at: now))
    }

    mutating func delete(
        _ id: String, _ condition: WriteCondition, at now: Timestamp
    ) -> Result<StoredRegistration, RegistrationRefusal> {
        let stored = find(id)
        if let refusal = refusal(of: condition, stored, id, now, creates: false) { return .failure(refusal) }
        guard let stored else { return .failure(.notFound) }
        remove(stored, .deleted, at: now)
        return .success(stored)
    }

    /// Returns the channel of a draft's handle. Makes the channel if it is missing; otherwise stores the current
    /// spelling of the handle, and ends the suspicion that the device is stale.
    mutating func channel(of placed: PlacedDraft, over old: StoredRegistration?) -> Int64 {
        guard let number = channelNumbers[placed.key] else { return makeChannel(placed.key) }
        channels[number]?.new?.isSuspected = false
        let handle = placed.draft.handle.text
        if old?.channel != number || old?.handle != handle { spell(handle, number, on: placed.platform) }
        return number
    }

    private mutating func spell(_ handle: String, _ channel: Int64, on platform: Int32) {
        spellings[channel] = (platform, handle)
        for var registration in registrations(ofChannel: channel) where registration.handle != handle {
            registration.handle = handle
            set(registration, of: registration.sequence)
        }
    }

    /// Creates or replaces a registration.
    /// - Parameter row: The installation to which the registration belongs, and its slot there; nil if it belongs to
    ///   none.
    mutating func write(
        _ placed: PlacedDraft, id: String, _ channel: Int64, over old: StoredRegistration?,
        row: StoredRegistration.InstallationReference? = nil, at now: Timestamp
    ) -> StoredRegistration {
        let draft = placed.draft
        let folded = draft.tags.allSatisfy { $0.spelling == $0.folded }
        var new = StoredRegistration(
            sequence: old?.sequence ?? 0, scope: placed.scope, channel: channel, id: id, handle: draft.handle.text,
            tags: draft.tags.map { tagMadeIfMissing(TagKey(scope: placed.scope, shard: shard, name: $0.folded)) },
            spelledTags: folded ? nil : draft.tags.map(\.spelling).joined(separator: ","),
            version: (old?.version ?? 0) + 1, createdAt: old?.createdAt ?? now, updatedAt: now,
            expiresAt: draft.expiresAt, template: draft.template.map { contentMadeIfMissing(ContentCoding.encode($0)) },
            variables: draft.pushVariables.isEmpty
                ? nil : contentMadeIfMissing(ContentCoding.encode(draft.pushVariables)),
            secondaryTile: draft.secondaryTile, row: row)
        if let old {
            update(new, from: old, .changed)
        } else {
            ordinals.registrations += 1
            new.sequence = ordinals.registrations
            set(new, of: new.sequence)
        }
        if draft.takesHandle { removeOthers(than: new, at: now) }
        return new
    }

    mutating func update(_ new: StoredRegistration, from old: StoredRegistration, _ cause: RegistrationEnding) {
        if cause == .moved || new.isSentOtherwise(than: old) { keep(old, cause, at: new.updatedAt) }
        set(new, of: new.sequence)
        if new.channel != old.channel { leave(old) }
    }

    /// Removes a registration. A registration that belongs to an installation leaves a dead slot. Any other leaves a
    /// tombstone.
    mutating func remove(_ stored: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp) {
        erase(stored, cause, at: now)
        if let row = stored.row {
            close(row)
        } else {
            tombstones.insert(stored.id)
            newTombstones[stored.id] = now
        }
    }

    /// Removes a registration. Only the history keeps its former state; no tombstone and no dead slot is left.
    mutating func erase(_ stored: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp) {
        keep(stored, cause, at: now)
        set(nil, of: stored.sequence)
        leave(stored)
    }

    /// Removes all registrations of the channel of `kept`, except `kept` itself and the registrations of its
    /// installation.
    private mutating func removeOthers(than kept: StoredRegistration, at now: Timestamp) {
        for other in registrations(ofChannel: kept.channel) where other.sequence != kept.sequence {
            if let row = kept.row, other.row?.installation == row.installation { continue }
            remove(other, .taken, at: now)
        }
    }

    /// Sets or removes the device key of a registration. Nothing changes if the registration does not have the tag.
    /// - Returns: Whether the registration exists and has the tag.
    mutating func setKey(_ key: DeviceKey?, of id: String, tagged tag: Tag) -> Bool {
        guard let stored = find(id), has(tag, stored) else { return false }
        keys.updateValue(key.map { StoredDeviceKey(tag: tag.folded, key: $0) }, forKey: stored.sequence)
        return true
    }

    private func refusal(
        of condition: WriteCondition, _ stored: StoredRegistration?, _ id: String, _ now: Timestamp, creates: Bool
    ) -> RegistrationRefusal? {
        guard let stored else {
            if tombstones.contains(id) { return .gone }
            guard creates, exists else { return .notFound }
            switch condition {
            case .none, .absent, .fresh, .tagged: return nil
            case .exists, .version: return .notFound
            }
        }
        guard !stored.isExpired(at: now) else { return .gone }
        return switch condition {
        case .none, .exists: nil
        case .absent, .fresh: .versionMismatch
        case .version(let version): version == stored.version ? nil : .versionMismatch
        case .tagged(let tag): has(tag, stored) ? nil : .notTagged
        }
    }

    private func has(_ tag: Tag, _ stored: StoredRegistration) -> Bool {
        let id = self.tag(TagKey(scope: stored.scope, shard: shard, name: tag.folded))
        return id.map { stored.tags.contains($0) } ?? false
    }
}

// MARK: Feedback

extension DeviceSet {
    /// Removes, moves or marks channels as the feedback of their push service says.
    /// - Returns: The number of removed channels.
    mutating func apply(_ feedback: [ChannelFeedback], at now: Timestamp) -> Int {
        feedback.reduce(0) { $0 + (apply($1, at: now) ? 1 : 0) }
    }

    private mutating func apply(_ item: ChannelFeedback, at now: Timestamp) -> Bool {
        let number = item.channel.rawValue
        guard let channel = channels[number]?.new else { return false }
        let registrations = registrations(ofChannel: number)
        switch item.kind {
        case .gone(let timestamp):
            let registeredAt = registrations.reduce(channel.registeredAt) { max($0, $1.updatedAt) }
            if let timestamp, registeredAt > timestamp { return false }
            for stored in registrations { remove(stored, .unregistered, at: now) }
            return !registrations.isEmpty
        case .moved(let handle, let key):
            move(channel, to: handle, key: key, registrations, at: now)
        case .suspected: channels[number]?.new?.isSuspected = true
        case .trusted: channels[number]?.new?.isSuspected = false
        }
        return false
    }

    /// Gives a channel its new handle. If another channel already has that handle, moves the registrations to that
    /// channel.
    private mutating func move(
        _ channel: StoredChannel, to handle: PushHandle, key: String, _ registrations: [StoredRegistration],
        at now: Timestamp
    ) {
        let key = HandleKey(platform: channel.platform, key: key)
        let target = channelNumbers[key] ?? channel.number
        let spelling: String
        if target == channel.number {
            spelling = handle.text
            setKey(key, of: channel.number)
        } else {
            spelling = self.registrations(ofChannel: target).first?.handle ?? handle.text
        }
        for stored in registrations {
            var moved = stored
            moved.version += 1
            moved.updatedAt = now
            moved.channel = target
            moved.handle = spelling
            update(moved, from: stored, .moved)
        }
    }
}
