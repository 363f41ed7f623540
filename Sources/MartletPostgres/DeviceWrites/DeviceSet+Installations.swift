import MartletCore
import MartletModel

/// The draft of an installation, with the numbers of its platforms.
struct PlacedInstallation: Sendable {
    var draft: InstallationDraft
    /// The drafts of the registrations with their slots. They expire when the installation does.
    var rows: [(slot: String, placed: PlacedDraft)]
}

/// An installation after a write, and the handles of its registrations by slot. The installation's record contains
/// both.
struct InstallationResult: Sendable {
    var id: String
    var installation: StoredInstallation
    var handles: [String: String]

    var record: InstallationRecord {
        InstallationRecord(
            id: id, document: installation.document, version: installation.version, expiresAt: installation.expiresAt,
            handles: handles.mapValues { PushHandle(text: $0) }, deadSlots: installation.deadSlots,
            createdAt: installation.createdAt, updatedAt: installation.updatedAt)
    }
}

extension DeviceSet {
    mutating func put(
        _ placed: PlacedInstallation, _ condition: WriteCondition, at now: Timestamp
    ) -> Result<InstallationResult, RegistrationRefusal> {
        let id = placed.draft.id
        let found = installations[id]?.new
        let old = found.flatMap { $0.isExpired(at: now) ? nil : $0 }
        if let refusal = refusal(of: condition, old) { return .failure(refusal) }
        guard prepare(id, found, old, at: now) else { return .failure(.notFound) }
        let new = installation(over: old, placed.draft.document, placed.draft.expiresAt, deadSlots: [], at: now)
        store(new, id)
        writeRows(of: placed, new.sequence, at: now)
        return .success(result(id, new))
    }

    mutating func deleteInstallation(
        _ id: String, _ condition: WriteCondition, at now: Timestamp
    ) -> Result<InstallationResult, RegistrationRefusal> {
        guard let old = installations[id]?.new, !old.isExpired(at: now) else { return .failure(.notFound) }
        if let refusal = refusal(of: condition, old) { return .failure(refusal) }
        let result = result(id, old)
        removeInstallation(id, old, .deleted, at: now)
        return .success(result)
    }

    /// Writes one registration of an installation. The other registrations of the installation change only their
    /// expiry.
    mutating func merge(
        _ merge: InstallationMerge, _ placed: PlacedDraft, at now: Timestamp
    ) -> Result<StoredRegistration, RegistrationRefusal> {
        let id = merge.part.installation
        let found = installations[id]?.new
        let old = found.flatMap { $0.isExpired(at: now) ? nil : $0 }
        let stored = old.flatMap { old in
            registrations(ofInstallation: old.sequence).first { $0.row?.slot == merge.row.slot }
        }
        if merge.updatesOnly, stored == nil { return .failure(.notFound) }
        let document: [UInt8]
        do throws(InstallationError) {
            document = try merge.document(over: old?.document)
        } catch {
            return .failure(.notMergeable(error.description))
        }
        guard prepare(id, found, old, at: now) else { return .failure(.notFound) }
        let expiresAt = placed.draft.expiresAt
        let new = installation(
            over: old, document, expiresAt, deadSlots: (old?.deadSlots ?? []).subtracting([merge.row.slot]), at: now)
        store(new, id)
        if let old, old.expiresAt != expiresAt {
            for var sibling in registrations(ofInstallation: old.sequence) {
                sibling.expiresAt = expiresAt
                set(sibling, of: sibling.sequence)
            }
        }
        let row = StoredRegistration.InstallationReference(
            installation: new.sequence, id: id, slot: merge.row.slot)
        // Reads the registration again, because the loop above may have changed its expiry.
        let current = stored.flatMap { registrations[$0.sequence]?.new }
        return .success(
            write(
                placed, id: stored?.id ?? freeID(merge.registrationID), channel(of: placed, over: current),
                over: current, row: row, at: now))
    }

    private func freeID(_ wanted: String?) -> String {
        guard let wanted, find(wanted) == nil, !tombstones.contains(wanted) else { return DeviceRegistry.newID() }
        return wanted
    }

    /// Prepares the creation of an installation: removes an expired installation with the same id.
    /// - Returns: False if the hub does not exist.
    private mutating func prepare(
        _ id: String, _ found: StoredInstallation?, _ old: StoredInstallation?, at now: Timestamp
    ) -> Bool {
        guard old == nil else { return true }
        guard exists else { return false }
        if let found { removeInstallation(id, found, .expired, at: now) }
        return true
    }

    private mutating func installation(
        over old: StoredInstallation?, _ document: [UInt8], _ expiresAt: Timestamp?, deadSlots: Set<String>,
        at now: Timestamp
    ) -> StoredInstallation {
        if old == nil { ordinals.installations += 1 }
        return StoredInstallation(
            sequence: old?.sequence ?? ordinals.installations, version: (old?.version ?? 0) + 1,
            createdAt: old?.createdAt ?? now, updatedAt: now, expiresAt: expiresAt, document: document,
            deadSlots: deadSlots)
    }

    private mutating func store(_ installation: StoredInstallation?, _ id: String) {
        installations[id] = Change(old: installations[id]?.old, new: installation)
    }

    private mutating func writeRows(of placed: PlacedInstallation, _ sequence: Int64, at now: Timestamp) {
        var old: [String: StoredRegistration] = [:]
        for stored in registrations(ofInstallation: sequence) {
            if let row = stored.row { old[row.slot] = stored }
        }
        for (slot, draft) in placed.rows {
            let stored = old.removeValue(forKey: slot).flatMap { registrations[$0.sequence]?.new }
            let row = StoredRegistration.InstallationReference(
                installation: sequence, id: placed.draft.id, slot: slot)
            _ = write(
                draft, id: stored?.id ?? DeviceRegistry.newID(), channel(of: draft, over: stored), over: stored,
                row: row, at: now)
        }
        for stored in old.values.sorted(by: { $0.sequence < $1.sequence }) {
            guard let current = registrations[stored.sequence]?.new else { continue }
            erase(current, .deleted, at: now)
        }
    }

    mutating func removeInstallation(
        _ id: String, _ installation: StoredInstallation, _ cause: RegistrationEnding, at now: Timestamp
    ) {
        for stored in registrations(ofInstallation: installation.sequence) { erase(stored, cause, at: now) }
        store(nil, id)
    }

    private func refusal(of condition: WriteCondition, _ stored: StoredInstallation?) -> RegistrationRefusal? {
        switch (condition, stored) {
        case (.none, _), (.absent, nil), (.fresh, nil), (.exists, _?): nil
        case (.absent, _?), (.fresh, _?): .versionMismatch
        case (_, nil): .notFound
        case (.version(let version), let stored?): version == stored.version ? nil : .versionMismatch
        // Only registrations have tags, so an installation never meets this condition.
        case (.tagged, _): .notTagged
        }
    }

    private func result(_ id: String, _ installation: StoredInstallation) -> InstallationResult {
        let rows = registrations(ofInstallation: installation.sequence)
        let handles = rows.compactMap { stored in stored.row.map { ($0.slot, stored.handle) } }
        return InstallationResult(
            id: id, installation: installation, handles: Dictionary(handles) { first, _ in first })
    }
}
