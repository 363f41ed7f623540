import MartletCore
import MartletModel

extension MemoryState {
    mutating func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) -> Result<InstallationRecord, RegistrationRefusal> {
        switch change {
        case .put(let draft, let condition):
            let old = installation(draft.id, in: hub, at: now)
            if let refusal = refusal(of: condition, old, creates: hubs.contains { $0.id == hub }) {
                return .failure(refusal)
            }
            if old == nil { removeInstallation(draft.id, in: hub, .expired, at: now) }
            return .success(put(draft, over: old, in: hub, at: now))
        case .delete(let id, let condition):
            let old = installation(id, in: hub, at: now)
            if let refusal = refusal(of: condition, old, creates: false) { return .failure(refusal) }
            guard let old else { return .failure(.notFound) }
            removeInstallation(id, in: hub, .deleted, at: now)
            return .success(old)
        }
    }

    mutating func merge(
        _ merge: InstallationMerge, in hub: Hub.ID, at now: Timestamp
    ) -> Result<Registration, RegistrationRefusal> {
        let (id, draft) = (merge.part.installation, merge.row.registration)
        let name = MemoryName(hub: hub, id: id)
        let old = installation(id, in: hub, at: now)
        let stored = registrations.first {
            old != nil && $0.hub == hub && $0.registration.installation == id && $0.slot == merge.row.slot
        }
        guard hubs.contains(where: { $0.id == hub }), !merge.updatesOnly || stored != nil else {
            return .failure(.notFound)
        }
        let document: [UInt8]
        do throws(InstallationError) {
            document = try merge.document(over: old?.document)
        } catch {
            return .failure(.notMergeable(error.description))
        }
        if old == nil { removeInstallation(id, in: hub, .expired, at: now) }
        installations[name] = InstallationRecord(
            id: id, document: document, version: (old?.version ?? 0) + 1, expiresAt: draft.expiresAt, handles: [:],
            deadSlots: (old?.deadSlots ?? []).subtracting([merge.row.slot]), createdAt: old?.createdAt ?? now,
            updatedAt: now)
        for index in registrations.indices
        where registrations[index].hub == hub && registrations[index].registration.installation == id {
            registrations[index].registration.expiresAt = draft.expiresAt
        }
        let wanted = merge.registrationID.flatMap { wanted in
            index(of: wanted, in: hub) == nil && !tombstones.contains(MemoryName(hub: hub, id: wanted)) ? wanted : nil
        }
        return .success(
            write(
                draft, id: stored?.registration.id ?? wanted ?? DeviceRegistry.newID(), row: (id, merge.row.slot),
                in: hub, at: now))
    }

    /// Returns an installation with the current handles of its registrations; nil if it has expired or does not exist.
    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) -> InstallationRecord? {
        guard var record = installations[MemoryName(hub: hub, id: id)] else { return nil }
        if let end = record.expiresAt, end <= now { return nil }
        for entry in registrations where entry.hub == hub && entry.registration.installation == id {
            if let slot = entry.slot { record.handles[slot] = shown(entry).handle }
        }
        return record
    }

    private func refusal(
        of condition: WriteCondition, _ record: InstallationRecord?, creates: Bool
    ) -> RegistrationRefusal? {
        switch (condition, record) {
        case (.none, nil), (.absent, nil), (.fresh, nil): creates ? nil : .notFound
        case (.absent, _?), (.fresh, _?): .versionMismatch
        case (_, nil): .notFound
        case (.none, _), (.exists, _): nil
        case (.version(let version), let record?): version == record.version ? nil : .versionMismatch
        case (.tagged, _): .notTagged
        }
    }

    private mutating func put(
        _ draft: InstallationDraft, over old: InstallationRecord?, in hub: Hub.ID, at now: Timestamp
    ) -> InstallationRecord {
        let record = InstallationRecord(
            id: draft.id, document: draft.document, version: (old?.version ?? 0) + 1, expiresAt: draft.expiresAt,
            handles: [:], deadSlots: [], createdAt: old?.createdAt ?? now, updatedAt: now)
        installations[MemoryName(hub: hub, id: draft.id)] = record
        for row in draft.rows {
            let stored = registrations.first {
                $0.hub == hub && $0.registration.installation == draft.id && $0.slot == row.slot
            }
            var registration = row.registration
            registration.expiresAt = draft.expiresAt
            _ = write(
                registration, id: stored?.registration.id ?? DeviceRegistry.newID(), row: (draft.id, row.slot), in: hub,
                at: now)
        }
        let slots = Set(draft.rows.map(\.slot))
        removeRows(.deleted, at: now) { entry in
            entry.hub == hub && entry.registration.installation == draft.id && !slots.contains(entry.slot ?? "")
        }
        return installation(draft.id, in: hub, at: now) ?? record
    }

    private mutating func removeInstallation(
        _ id: String, in hub: Hub.ID, _ cause: RegistrationEnding, at now: Timestamp
    ) {
        installations[MemoryName(hub: hub, id: id)] = nil
        removeRows(cause, at: now) { $0.hub == hub && $0.registration.installation == id }
    }

    private mutating func removeRows(
        _ cause: RegistrationEnding, at now: Timestamp, _ isChosen: (MemoryRegistration) -> Bool
    ) {
        for entry in registrations where isChosen(entry) { keep(entry, cause, at: now) }
        registrations.removeAll(where: isChosen)
        removeUnusedChannels()
    }
}
