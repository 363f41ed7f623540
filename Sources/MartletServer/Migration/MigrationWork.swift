import MartletCore
import MartletHubAPI
import MartletModel

/// One request of a migration into a hub.
///
/// What it will write is in the ledger before it writes, so that after a kill a copy is still known as one.
struct MigrationWork {
    typealias Key = MigrationLedger.Key
    typealias Entry = MigrationLedger.Entry

    let hub: Hub.ID
    let devices: DeviceRegistry
    let store: any DeviceStore
    let time: any TimeSource
    let state: MigrationState

    /// Copies the plain registrations of a page.
    /// - Returns: `counts` by platform, `reasons` of refusals, and the `installations` to read from the source.
    func copy(_ rows: [SourceRow]) async throws -> JSON {
        var counts = MigrationCounts()
        var writes: [(key: Key, source: UInt64, platform: String, change: RegistrationChange)] = []
        var intents: [(Key, Entry)] = []
        var wanted: [String: (platform: String, rows: [JSON])] = [:]
        var seen: Set<String> = []
        let pass = state.read(\.pass)
        for row in rows {
            let key = Key.registration(row.id)
            switch row.content {
            case .refused(let sentence): counts.refuse(row.platform, sentence)
            case .registration(let draft):
                let source = Self.digest(row, draft)
                let stored = try await store.registration(row.id, in: hub, at: time.now)
                let now = stored.map { MigrationLedger.Stored(version: $0.version, createdAt: $0.createdAt) }
                if try await isReplaced(draft, row.id, installation: nil) {
                    counts.add(row.platform, .kept)
                    if let now, state.read({ $0.isCopy(key, now) }) {
                        _ = try await store.apply(
                            .delete(id: row.id, condition: .version(now.version)), in: hub, at: time.now)
                    }
                    continue
                }
                switch state.read({ $0.decision(key, source: source, stored: now) }) {
                case .write(let condition):
                    intents.append(
                        (key, Entry(source: source, version: (now?.version ?? 0) + 1, createdAt: 0, pass: pass)))
                    writes.append((key, source, row.platform, .put(draft, id: row.id, condition: condition)))
                case .unchanged:
                    counts.add(row.platform, .unchanged)
                    intents.append((key, entry(source, now, pass)))
                case .kept:
                    counts.add(row.platform, .kept)
                    intents.append(
                        (key, state.read { $0.entries[key] } ?? Entry(source: 0, version: -1, createdAt: 1, pass: pass))
                    )
                }
            case .installation(let id, let draft):
                let source = Self.digest(row, draft)
                let isFirst = seen.insert(id).inserted
                switch try await installationDecision(id, key, source, draft, row.id) {
                case .write:
                    wanted[id, default: (row.platform, [])].rows.append(
                        .array([.string("\(key.digest)"), .string("\(source)")]))
                case .unchanged:
                    let own = Key.installation(id)
                    if var entry = state.read({ $0.entries[own] }) {
                        if isFirst, entry.pass < pass { counts.add(row.platform, .unchanged) }
                        entry.pass = pass
                        intents.append((own, entry))
                    }
                    intents.append((key, Entry(source: source, version: -1, createdAt: 1, pass: pass)))
                case .kept:
                    if isFirst { counts.add(row.platform, .kept) }
                    intents.append((key, Entry(source: 0, version: -1, createdAt: 1, pass: pass)))
                }
            }
        }
        try state.set(intents)
        let results = try await store.apply(writes.map(\.change), in: hub, at: time.now)
        var done: [(Key, Entry)] = []
        for (write, result) in zip(writes, results) {
            switch result {
            case .success(let stored):
                counts.add(write.platform, .copied)
                done.append(
                    (write.key, entry(write.source, .init(version: stored.version, createdAt: stored.createdAt), pass)))
            case .failure(let refusal):
                counts.add(write.platform, .kept)
                if refusal != .versionMismatch, refusal != .gone { counts.note(refusal.sentence) }
                done.append((write.key, Entry(source: write.source, version: -1, createdAt: 1, pass: pass)))
            }
        }
        try state.set(done)
        var answer = counts.json
        answer["installations"] = .array(
            wanted.sorted { $0.key < $1.key }.map {
                ["id": .string($0.key), "platform": .string($0.value.platform), "rows": .array($0.value.rows)]
            })
        return .object(answer)
    }

    /// Copies installations: for each its `id`, the `document` of the source and the `rows` that `copy` gave.
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
            // Its registrations may be on several pages.
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
        try state.set(rows.map { ($0.0, Entry(source: $0.1, version: -1, createdAt: 1, pass: pass)) })
        if let outcome { counts.add(platform, outcome) }
    }

    /// Whether an installation must be read from the source.
    private func installationDecision(
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

    /// Whether an app has registered the handle here under an id that the source does not know.
    private func isReplaced(
        _ draft: RegistrationDraft, _ row: String, installation: String?
    ) async throws -> Bool {
        let page = try await store.registrations(
            RegistrationQuery(
                hub: hub, filter: .handle(platform: draft.platform, key: draft.handleKey), limit: 100, now: time.now))
        return page.registrations.contains { other in
            guard other.id != row, other.installation == nil || other.installation != installation else { return false }
            let key = other.installation.map(Key.installation) ?? Key.registration(other.id)
            return state.read { $0.entries[key] } == nil
        }
    }

    private func stored(installation id: String) async throws(StorageError) -> MigrationLedger.Stored? {
        try await store.installation(id, in: hub, at: time.now).map {
            MigrationLedger.Stored(version: $0.version, createdAt: $0.createdAt)
        }
    }

    private func entry(_ source: UInt64, _ stored: MigrationLedger.Stored?, _ pass: Int64) -> Entry {
        Entry(
            source: source, version: stored?.version ?? -1, createdAt: stored?.createdAt.milliseconds ?? 1, pass: pass)
    }

    private static func digest(_ row: SourceRow, _ draft: RegistrationDraft) -> UInt64 {
        MigrationLedger.digest(
            row.entityTag, draft.handleKey, draft.tags.map(\.folded).joined(separator: ","), draft.template?.body ?? "")
    }

    // MARK: What the source has no more

    /// A page of the copies here that the source did not list in this pass.
    func missing(after: Int64?) async throws -> JSON {
        let page = try await store.registrations(
            RegistrationQuery(hub: hub, filter: .all, after: after, limit: 1000, now: time.now))
        var registrations: Set<String> = []
        var installations: Set<String> = []
        let (entries, pass) = state.read { ($0.entries, $0.pass) }
        for registration in page.registrations {
            let key = registration.installation.map(Key.installation) ?? Key.registration(registration.id)
            guard let entry = entries[key], entry.version > 0, entry.pass < pass else { continue }
            if let id = registration.installation {
                installations.insert(id)
            } else {
                registrations.insert(registration.id)
            }
        }
        return [
            "registrations": registrations.sorted().json, "installations": installations.sorted().json,
            "next": page.next.map { .integer($0) } ?? .null,
        ]
    }

    /// Deletes copies that nobody has changed here.
    func delete(_ list: JSON) async throws -> JSON {
        var count: Int64 = 0
        for id in list["registrations"]?.array?.compactMap(\.string) ?? [] {
            guard let found = try await store.registration(id, in: hub, at: time.now) else { continue }
            let stored = MigrationLedger.Stored(version: found.version, createdAt: found.createdAt)
            guard state.read({ $0.isCopy(.registration(id), stored) }) else { continue }
            let result = try await store.apply(
                .delete(id: id, condition: .version(stored.version)), in: hub, at: time.now)
            if case .success = result { count += 1 }
        }
        for id in list["installations"]?.array?.compactMap(\.string) ?? [] {
            guard let stored = try await stored(installation: id),
                state.read({ $0.isCopy(.installation(id), stored) })
            else { continue }
            let result = try await store.apply(
                InstallationChange.delete(id: id, condition: .version(stored.version)), in: hub, at: time.now)
            if case .success = result { count += 1 }
        }
        return ["deleted": .integer(count)]
    }

    // MARK: Comparison

    /// Compares registrations of the source with what is stored here.
    func compare(_ rows: [SourceRow]) async throws -> JSON {
        var counts: [String: JSON] = [:]
        for row in rows {
            let state: String
            switch row.content {
            case .refused: state = "refused"
            case .registration(let draft):
                state = Self.comparison(
                    draft, try await store.registration(row.id, in: hub, at: time.now).map { [$0] } ?? [])
            case .installation(let id, let draft):
                let page = try await store.registrations(
                    RegistrationQuery(
                        hub: hub, filter: .handle(platform: draft.platform, key: draft.handleKey), limit: 100,
                        now: time.now))
                state = Self.comparison(draft, page.registrations.filter { $0.installation == id })
            }
            var platform = counts[row.platform]?.object ?? [:]
            platform[state] = .integer((platform[state]?.integer ?? 0) + 1)
            counts[row.platform] = .object(platform)
        }
        return ["counts": .object(counts)]
    }

    private static func comparison(_ draft: RegistrationDraft, _ stored: [Registration]) -> String {
        func own(_ tags: [Tag]) -> Set<String> { Set(tags.map(\.folded).filter { !$0.hasPrefix("$") }) }
        guard !stored.isEmpty else { return "missing" }
        return stored.contains { other in
            own(other.tags) == own(draft.tags) && other.template?.body == draft.template?.body
                && other.handle == draft.handle
        } ? "same" : "different"
    }
}

/// What became of the registrations and installations of one request.
struct MigrationCounts {
    enum Outcome: String {
        case copied, unchanged, kept, refused
    }

    private var platforms: [String: [String: Int64]] = [:]
    private var reasons: [String: Int64] = [:]

    mutating func add(_ platform: String, _ outcome: Outcome) {
        platforms[platform, default: [:]][outcome.rawValue, default: 0] += 1
    }

    mutating func refuse(_ platform: String, _ sentence: String) {
        add(platform, .refused)
        note(sentence)
    }

    mutating func note(_ sentence: String) { reasons[sentence, default: 0] += 1 }

    var json: [String: JSON] {
        [
            "counts": .object(platforms.mapValues { .object($0.mapValues { .integer($0) }) }),
            "reasons": .object(reasons.mapValues { .integer($0) }),
        ]
    }
}

extension [String] {
    fileprivate var json: JSON { .array(map { .string($0) }) }
}
