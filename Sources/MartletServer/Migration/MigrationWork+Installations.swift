import MartletCore
import MartletModel

extension MigrationWork {
    /// Copies installations. Each element has the `id`, the `document` of the source and the `rows` that `copy`
    /// returned.
    func copyInstallations(_ installations: [JSON]) async throws -> JSON {
        var counts = MigrationCounts()
        for item in installations {
            guard let id = item["id"]?.string, let document = item["document"] else { continue }
            let platform = item["platform"]?.string ?? ""
            let rows = (item["rows"]?.array ?? []).compactMap { row -> (Key, UInt64)? in
                guard let parts = row.array, parts.count == 2, let key = parts[0].string.flatMap({ UInt64($0) }),
                    let source = parts[1].string.flatMap({ UInt64($0) })
                else { return nil }
                return (Key(digest: key), source)
            }
            try await copy(id, document, platform, rows, &counts)
        }
        return .object(counts.json)
    }

    private func copy(
        _ id: String, _ document: JSON, _ platform: String, _ rows: [(Key, UInt64)], _ counts: inout MigrationCounts
    ) async throws {
        let key = Key.installation(id)
        let source = MigrationLedger.digest(document.text)
        let pass = state.read(\.pass)
        let stored = try await stored(installation: id)
        var outcome: MigrationCounts.Outcome? = .unchanged
        switch state.read({ $0.decision(key, source: source, stored: stored) }) {
        case .unchanged:
            // The registrations of an installation may be on several pages.
            if state.read({ $0.entries[key]?.pass == pass }) { outcome = nil }
            try state.set([(key, entry(source, stored, pass))])
        case .kept: outcome = .kept
        case .write(let condition):
            do {
                let installation = try Installation(parsing: document.bytes, id: id)
                try state.set([
                    (key, Entry(source: source, version: (stored?.version ?? 0) + 1, createdAt: 0, pass: pass))
                ])
                let record = try await devices.put(installation, in: hub, condition: condition)
                try state.set([(key, entry(source, .init(version: record.version, createdAt: record.createdAt), pass))])
                outcome = .copied
            } catch let error as InstallationError {
                return counts.refuse(platform, error.description)
            } catch let error as DeviceRegistryError {
                switch error {
                case .invalid(let sentence): return counts.refuse(platform, sentence)
                case .storage(let error): throw error
                case .refused: outcome = .kept
                }
            }
        }
        try state.set(rows.map { ($0.0, .notCopied(source: $0.1, pass)) })
        if let outcome { counts.add(platform, outcome) }
    }

    /// Whether an installation must be read from the source.
    func installationDecision(
        _ id: String, _ key: Key, _ source: UInt64, _ draft: RegistrationDraft, _ row: String
    ) async throws -> MigrationLedger.Decision {
        let own = Key.installation(id)
        let stored = try await stored(installation: id)
        if try await isReplaced(draft, row, installation: id) {
            if let stored, state.read({ $0.isCopy(own, stored) }) {
                _ = try await store.apply(
                    InstallationChange.delete(id: id, condition: .version(stored.version)), in: hub, at: time.now)
            }
            return .kept
        }
        let (known, before) = state.read { ($0.entries[own], $0.entries[key]) }
        if stored == nil, known == nil { return .write(.absent) }
        if let stored, !state.read({ $0.isCopy(own, stored) }) { return .kept }
        return before?.source == source ? (stored == nil ? .kept : .unchanged) : .write(.none)
    }
}
