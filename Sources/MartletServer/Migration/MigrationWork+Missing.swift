import MartletCore
import MartletModel

// Finds and deletes copies of items that the source no longer has.
extension MigrationWork {
    /// Returns one page of the copies in this hub that the source has not listed in the current pass.
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

    /// Deletes the copies with the ids that `missing` has listed.
    ///
    /// A copy that has been changed in this hub is kept.
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
}

extension [String] {
    fileprivate var json: JSON { .array(map { .string($0) }) }
}
