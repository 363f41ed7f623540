import MartletCore
import MartletModel

extension MigrationWork {
    /// The number of installations that are written at the same time.
    ///
    /// The database commits the writes of these installations together, so that they wait for the disk only once.
    private static let width = 32

    /// An installation of the source.
    private struct Item: Sendable {
        let id: String
        let document: JSON
        let platform: String
        /// The registrations of the installation in the source's listing.
        let rows: [(key: Key, source: UInt64)]
        let digest: UInt64

        var key: Key { .installation(id) }

        init?(_ json: JSON) {
            guard let id = json["id"]?.string, let document = json["document"] else { return nil }
            self.id = id
            self.document = document
            platform = json["platform"]?.string ?? ""
            rows = (json["rows"]?.array ?? []).compactMap { row in
                guard let parts = row.array, parts.count == 2, let key = parts[0].string.flatMap({ UInt64($0) }),
                    let source = parts[1].string.flatMap({ UInt64($0) })
                else { return nil }
                return (Key(digest: key), source)
            }
            digest = MigrationLedger.digest(document.text)
        }
    }

    private struct Write: Sendable {
        let item: Item
        let installation: Installation
        let condition: WriteCondition
    }

    private enum WriteResult: Sendable {
        case written(MigrationLedger.Stored)
        case kept
        case refused(String)
    }

    /// Copies installations.
    ///
    /// For all these installations together, the ledger is written only twice: before the first installation is
    /// written, and after the last one.
    /// - Parameter installations: The installations, each with its `id`, the `document` of the source, and the `rows`
    ///   that `copy` returned.
    func copyInstallations(_ installations: [JSON]) async throws -> JSON {
        var counts = MigrationCounts()
        var intents: [(Key, Entry)] = []
        var writes: [Write] = []
        let pass = state.read(\.pass)
        for item in installations.compactMap(Item.init) {
            let stored = try await stored(installation: item.id)
            switch state.read({ $0.decision(item.key, source: item.digest, stored: stored) }) {
            case .unchanged:
                // The registrations of an installation may be on several pages, but the installation is counted only
                // once.
                if state.read({ $0.entries[item.key]?.pass != pass }) { counts.add(item.platform, .unchanged) }
                intents.append((item.key, entry(item.digest, stored, pass)))
                intents += rows(of: item, pass)
            case .kept:
                counts.add(item.platform, .kept)
                intents += rows(of: item, pass)
            case .write(let condition):
                do {
                    let installation = try Installation(parsing: item.document.bytes, id: item.id)
                    writes.append(Write(item: item, installation: installation, condition: condition))
                    let version = (stored?.version ?? 0) + 1
                    intents.append((item.key, Entry(source: item.digest, version: version, createdAt: 0, pass: pass)))
                } catch {
                    counts.refuse(item.platform, error.description)
                }
            }
        }
        try state.set(intents)
        try await write(writes, pass, &counts)
        return .object(counts.json)
    }

    private func write(_ writes: [Write], _ pass: Int64, _ counts: inout MigrationCounts) async throws {
        var done: [(Key, Entry)] = []
        var failure: (any Error)?
        for start in stride(from: 0, to: writes.count, by: Self.width) {
            await withTaskGroup(of: (Item, Result<WriteResult, any Error>).self) { group in
                for write in writes[start..<min(start + Self.width, writes.count)] {
                    group.addTask { (write.item, await put(write)) }
                }
                for await (item, result) in group {
                    switch result {
                    case .failure(let error): failure = error
                    case .success(.refused(let sentence)): counts.refuse(item.platform, sentence)
                    case .success(.kept):
                        counts.add(item.platform, .kept)
                        // The item that the app has written may have the very version that was planned for the copy. So
                        // the entry is replaced with one that does not stand for a copy.
                        done.append((item.key, .notCopied(source: item.digest, pass)))
                        done += rows(of: item, pass)
                    case .success(.written(let stored)):
                        counts.add(item.platform, .copied)
                        done.append((item.key, entry(item.digest, stored, pass)))
                        done += rows(of: item, pass)
                    }
                }
            }
            if failure != nil { break }
        }
        try state.set(done)
        if let failure { throw failure }
    }

    private func put(_ write: Write) async -> Result<WriteResult, any Error> {
        do throws(DeviceRegistryError) {
            let record = try await devices.put(write.installation, in: hub, condition: write.condition)
            return .success(.written(.init(version: record.version, createdAt: record.createdAt)))
        } catch {
            switch error {
            case .invalid(let sentence): return .success(.refused(sentence))
            case .storage(let error): return .failure(error)
            case .refused: return .success(.kept)
            }
        }
    }

    private func rows(of item: Item, _ pass: Int64) -> [(Key, Entry)] {
        item.rows.map { ($0.key, .notCopied(source: $0.source, pass)) }
    }

    /// Decides what to do with an installation when the source has listed one of its registrations.
    ///
    /// `.write` means that the installation must be read from the source. If an app has itself registered the handle in
    /// this hub, the result is `.kept`, and a copy of the installation that nobody has changed is deleted.
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
