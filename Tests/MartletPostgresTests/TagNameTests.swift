import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct TagNameTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func put(_ id: String, _ tags: [String], in hub: Hub.ID, with storage: PostgresStorage) async throws {
        let draft = RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle(id), handleKey: id,
            tags: try tags.map { try Tag($0) })
        _ = try await storage.apply([.put(draft, id: id, condition: .none)], in: hub, at: now)
    }

    @Test func namesAreThoseOfMembersInOrder() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
            try await put("1", ["city:berlin", "City:Aachen", "vip"], in: hub, with: storage)
            try await put("2", ["beta", "team:red", "city:zurich"], in: hub, with: storage)
            try await put("3", ["foreign"], in: other, with: storage)
            try await put("4", ["gone", "lost:x"], in: hub, with: storage)
            _ = try await storage.apply([.delete(id: "4", condition: .none)], in: hub, at: now)
            let all = try await storage.tagNames(beginningWith: "", after: nil, in: hub, limit: 10)
            #expect(all == ["beta", "city:aachen", "city:berlin", "city:zurich", "team:red", "vip"])
            #expect(
                try await storage.tagNames(beginningWith: "city:", after: "city:aachen", in: hub, limit: 1)
                    == ["city:berlin"])
            let prefixes = try await storage.tagPrefixes(in: hub, steps: 100)
            #expect(prefixes.prefixes == ["city:", "team:"] && prefixes.hasPlain && prefixes.isComplete)
            let begun = try await storage.tagPrefixes(in: hub, steps: 2)
            #expect(begun.prefixes == ["city:"] && begun.hasPlain && !begun.isComplete)
        }
    }
}
