import MartletCore
import MartletModel

extension MemoryState {
    mutating func apply(
        _ change: RegistrationChange, in hub: Hub.ID, at now: Timestamp
    ) -> Result<Registration, RegistrationRefusal> {
        switch change {
        case .merge(let merge): return self.merge(merge, in: hub, at: now)
        case .put(let draft, let id, let condition):
            if let refusal = refusal(of: condition, id, hub, now, creates: true) { return .failure(refusal) }
            leaveInstallation(id, in: hub)
            return .success(write(draft, id: id, in: hub, at: now))
        case .delete(let id, let condition):
            if let refusal = refusal(of: condition, id, hub, now, creates: false) { return .failure(refusal) }
            guard let index = index(of: id, in: hub) else { return .failure(.notFound) }
            let registration = shown(registrations[index])
            remove(index, .deleted, at: now)
            return .success(registration)
        }
    }

    func index(of id: String, in hub: Hub.ID) -> Int? {
        registrations.firstIndex { $0.hub == hub && $0.registration.id == id }
    }

    /// Returns a registration with the current handle of its channel.
    func shown(_ entry: MemoryRegistration) -> Registration {
        var registration = entry.registration
        if let channel = channels.first(where: { $0.id == entry.channel }) { registration.handle = channel.handle }
        return registration
    }

    func matches(_ entry: MemoryRegistration, _ filter: RegistrationQuery.Filter) -> Bool {
        switch filter {
        case .all: true
        case .tag(let tag): entry.registration.tags.contains(tag)
        case .handle(let platform, let key):
            channels.contains {
                $0.id == entry.channel && $0.key == key && (platform == nil || $0.platform == platform)
            }
        }
    }

    /// Takes a registration out of its installation, where its slot becomes a dead slot. The registration itself stays.
    private mutating func leaveInstallation(_ id: String, in hub: Hub.ID) {
        guard let index = index(of: id, in: hub), let slot = registrations[index].slot,
            let installation = registrations[index].registration.installation
        else { return }
        installations[MemoryName(hub: hub, id: installation)]?.deadSlots.insert(slot)
        registrations[index].slot = nil
    }

    private func refusal(
        of condition: WriteCondition, _ id: String, _ hub: Hub.ID, _ now: Timestamp, creates: Bool
    ) -> RegistrationRefusal? {
        guard let index = index(of: id, in: hub) else {
            if tombstones.contains(MemoryName(hub: hub, id: id)) { return .gone }
            guard creates, hubs.contains(where: { $0.id == hub }) else { return .notFound }
            switch condition {
            case .none, .absent, .fresh, .tagged: return nil
            case .exists, .version: return .notFound
            }
        }
        let entry = registrations[index]
        guard entry.isLive(at: now) else { return .gone }
        return switch condition {
        case .none, .exists: nil
        case .absent, .fresh: .versionMismatch
        case .version(let version): version == entry.registration.version ? nil : .versionMismatch
        case .tagged(let tag): entry.registration.tags.contains(tag) ? nil : .notTagged
        }
    }

    /// Creates or replaces a registration.
    /// - Parameter row: The id of the installation to which the registration belongs, and its slot there; nil if it
    ///   belongs to none.
    mutating func write(
        _ draft: RegistrationDraft, id: String, row: (installation: String, slot: String)? = nil, in hub: Hub.ID,
        at now: Timestamp
    ) -> Registration {
        let channel = register(draft, in: hub, at: now)
        let index = index(of: id, in: hub)
        let old = index.map { registrations[$0].registration }
        let registration = Registration(
            id: id, platform: draft.platform, handle: draft.handle, tags: draft.tags, template: draft.template,
            pushVariables: draft.pushVariables, secondaryTile: draft.secondaryTile, installation: row?.installation,
            version: (old?.version ?? 0) + 1, expiresAt: draft.expiresAt, createdAt: old?.createdAt ?? now,
            updatedAt: now)
        if let index {
            if isSentOtherwise(registration, to: channel, than: registrations[index]) {
                keep(registrations[index], .changed, at: now)
            }
            registrations[index].channel = channel
            registrations[index].registration = registration
        } else {
            lastRegistration += 1
            registrations.append(
                MemoryRegistration(
                    sequence: lastRegistration, hub: hub, channel: channel, slot: row?.slot, registration: registration)
            )
        }
        if draft.takesHandle { takeHandle(channel, for: registration, at: now) }
        removeUnusedChannels()
        return registration
    }

    private mutating func takeHandle(_ channel: ChannelID, for registration: Registration, at now: Timestamp) {
        while let other = registrations.firstIndex(where: {
            $0.channel == channel && $0.registration.id != registration.id
                && (registration.installation == nil || $0.registration.installation != registration.installation)
        }) {
            remove(other, .taken, at: now)
        }
    }

    private mutating func register(_ draft: RegistrationDraft, in hub: Hub.ID, at now: Timestamp) -> ChannelID {
        let found = channels.firstIndex { $0.hub == hub && $0.platform == draft.platform && $0.key == draft.handleKey }
        if let found {
            channels[found].handle = draft.handle
            channels[found].registeredAt = now
            channels[found].isSuspected = false
            return channels[found].id
        }
        lastChannel += 1
        let channel = MemoryChannel(
            id: ChannelID(rawValue: lastChannel), hub: hub, platform: draft.platform, handle: draft.handle,
            key: draft.handleKey, registeredAt: now)
        channels.append(channel)
        return channel.id
    }

    /// Removes a registration. A registration that belongs to an installation leaves a dead slot. Any other leaves a
    /// tombstone.
    mutating func remove(_ index: Int, _ cause: RegistrationEnding, at now: Timestamp) {
        keep(registrations[index], cause, at: now)
        let entry = registrations.remove(at: index)
        if let installation = entry.registration.installation, let slot = entry.slot {
            installations[MemoryName(hub: entry.hub, id: installation)]?.deadSlots.insert(slot)
        } else {
            tombstones.insert(MemoryName(hub: entry.hub, id: entry.registration.id))
        }
        removeUnusedChannels()
    }

    mutating func removeUnusedChannels() {
        let used = Set(registrations.map(\.channel))
        formerChannels += channels.filter { !used.contains($0.id) }
        channels.removeAll { !used.contains($0.id) }
    }
}
