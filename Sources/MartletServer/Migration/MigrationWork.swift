import MartletCore
import MartletHubAPI
import MartletModel

/// Performs one request of a migration into a hub.
///
/// Everything that a request will write is recorded in the ledger first. So even if the process is killed, the copies
/// are recognized as copies later.
struct MigrationWork {
    typealias Key = MigrationLedger.Key
    typealias Entry = MigrationLedger.Entry

    let hub: Hub.ID
    let devices: DeviceRegistry
    let store: any DeviceStore
    let time: any TimeSource
    let state: MigrationState

    /// Copies the registrations on a page of the source's listing, except those that are a part of an installation.
    /// - Returns: `counts` by platform, `reasons` of refusals, and the `installations` to read from the source.
    func copy(_ rows: [SourceRow]) async throws -> JSON {
        var page = MigrationPage(pass: state.read(\.pass))
        for row in rows {
            switch row.content {
            case .refused(let sentence): page.counts.refuse(row.platform, sentence)
            case .registration(let draft): try await plan(row, draft, &page)
            case .installation(let id, let draft): try await plan(row, ofInstallation: id, draft, &page)
            }
        }
        try state.set(page.intents)
        try await write(&page)
        return page.answer
    }

    /// Decides what to do with a registration that is not a part of an installation.
    private func plan(_ row: SourceRow, _ draft: RegistrationDraft, _ page: inout MigrationPage) async throws {
        let key = Key.registration(row.id)
        let source = Self.digest(row, draft)
        let stored = try await store.registration(row.id, in: hub, at: time.now)
            .map { MigrationLedger.Stored(version: $0.version, createdAt: $0.createdAt) }
        if try await isReplaced(draft, row.id, installation: nil) {
            page.counts.add(row.platform, .kept)
            if let stored, state.read({ $0.isCopy(key, stored) }) {
                _ = try await store.apply(
                    .delete(id: row.id, condition: .version(stored.version)), in: hub, at: time.now)
            }
            return
        }
        switch state.read({ $0.decision(key, source: source, stored: stored) }) {
        case .write(let condition):
            page.intents.append(
                (key, Entry(source: source, version: (stored?.version ?? 0) + 1, createdAt: 0, pass: page.pass)))
            page.writes.append(
                MigrationPage.Write(
                    key: key, source: source, platform: row.platform,
                    change: .put(draft, id: row.id, condition: condition)))
        case .unchanged:
            page.counts.add(row.platform, .unchanged)
            page.intents.append((key, entry(source, stored, page.pass)))
        case .kept:
            page.counts.add(row.platform, .kept)
            page.intents.append((key, state.read { $0.entries[key] } ?? .notCopied(source: 0, page.pass)))
        }
    }

    /// Decides what to do with a registration that is a part of an installation: whether the installation must be read
    /// from the source.
    private func plan(
        _ row: SourceRow, ofInstallation id: String, _ draft: RegistrationDraft, _ page: inout MigrationPage
    ) async throws {
        let key = Key.registration(row.id)
        let source = Self.digest(row, draft)
        let isFirst = page.seen.insert(id).inserted
        switch try await installationDecision(id, key, source, draft, row.id) {
        case .write: page.want(id, row.platform, row: key, source)
        case .unchanged:
            let own = Key.installation(id)
            guard var entry = state.read({ $0.entries[own] }) else { return }
            if isFirst, entry.pass < page.pass { page.counts.add(row.platform, .unchanged) }
            entry.pass = page.pass
            page.intents.append((own, entry))
            page.intents.append((key, .notCopied(source: source, page.pass)))
        case .kept:
            if isFirst { page.counts.add(row.platform, .kept) }
            page.intents.append((key, .notCopied(source: 0, page.pass)))
        }
    }

    private func write(_ page: inout MigrationPage) async throws {
        let results = try await store.apply(page.writes.map(\.change), in: hub, at: time.now)
        var done: [(Key, Entry)] = []
        for (write, result) in zip(page.writes, results) {
            switch result {
            case .success(let stored):
                page.counts.add(write.platform, .copied)
                let written = MigrationLedger.Stored(version: stored.version, createdAt: stored.createdAt)
                done.append((write.key, entry(write.source, written, page.pass)))
            case .failure(let refusal):
                page.counts.add(write.platform, .kept)
                if refusal != .versionMismatch, refusal != .gone { page.counts.note(refusal.sentence) }
                done.append((write.key, .notCopied(source: write.source, page.pass)))
            }
        }
        try state.set(done)
    }

    /// Returns whether an app has registered the handle in this hub under an id that is not in the ledger. Such a
    /// registration does not come from the source.
    func isReplaced(
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

    func stored(installation id: String) async throws(StorageError) -> MigrationLedger.Stored? {
        try await store.installation(id, in: hub, at: time.now).map {
            MigrationLedger.Stored(version: $0.version, createdAt: $0.createdAt)
        }
    }

    func entry(_ source: UInt64, _ stored: MigrationLedger.Stored?, _ pass: Int64) -> Entry {
        Entry(
            source: source, version: stored?.version ?? -1, createdAt: stored?.createdAt.milliseconds ?? 1, pass: pass)
    }

    private static func digest(_ row: SourceRow, _ draft: RegistrationDraft) -> UInt64 {
        MigrationLedger.digest(
            row.entityTag, draft.handleKey, draft.tags.map(\.folded).joined(separator: ","), draft.template?.body ?? "")
    }
}
