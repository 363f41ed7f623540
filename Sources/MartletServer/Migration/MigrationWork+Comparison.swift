import MartletCore
import MartletHubAPI
import MartletModel

extension MigrationWork {
    /// Compares registrations of the source with the registrations in this hub.
    /// - Returns: `counts`: for each platform, the numbers of registrations that are `same`, `different`, `missing` (in
    ///   this hub) and `refused`.
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
