import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres

/// Campaigns are kept as they were written last.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct CampaignTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withHub(_ work: (PostgresStorage, Hub.ID) async throws -> Void) async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
            try await work(storage, hub)
        }
    }

    private func text(_ name: String, _ draft: String = "{}") -> CampaignText {
        CampaignText(name: name, draft: draft, author: .operator("ops"), at: now)
    }

    @Test func aDraftIsReplacedOnlyByWhoHasSeenIt() async throws {
        try await withHub { storage, hub in
            let made = try #require(try await storage.addCampaign(text("Spr\u{0}ng", "{\"a\":1}"), in: hub))
            #expect(made.version == 1 && made.name == "Spr\u{0}ng" && made.changedBy == .operator("ops"))
            let second = try await storage.change(made.id, in: hub, version: 1, to: text("Spring", "{\"a\":2}"))
            guard case .changed(let changed) = second else {
                Issue.record("The draft was not replaced.")
                return
            }
            #expect(changed.version == 2 && changed.draft == "{\"a\":2}")
            let third = try await storage.change(made.id, in: hub, version: 1, to: text("Spring", "{\"a\":3}"))
            guard case .conflicting(let kept) = third else {
                Issue.record("A draft that nobody has seen was replaced.")
                return
            }
            #expect(kept.draft == "{\"a\":2}")
            #expect(try await storage.campaign(made.id, in: hub)?.draft == "{\"a\":2}")
            #expect(try await storage.campaigns(in: hub, before: nil, limit: 9).map(\.draft) == ["{}"])
        }
    }

    @Test func whatWasSentStays() async throws {
        try await withHub { storage, hub in
            let made = try #require(try await storage.addCampaign(text("Spring"), in: hub))
            let draft = NotificationDraft(
                id: NotificationID(at: now), hub: hub,
                content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])),
                target: .audience(nil), acceptedAt: now, expiresAt: now + .seconds(3600))
            guard case .unknownSend = try await storage.recordSend(draft.id, of: made.id, in: hub) else {
                Issue.record("A campaign was sent as a notification that is not there.")
                return
            }
            _ = try await storage.accept(draft)
            for _ in 0..<2 {
                guard case .changed(let sent) = try await storage.recordSend(draft.id, of: made.id, in: hub) else {
                    Issue.record("The send was not recorded.")
                    return
                }
                #expect(sent.send == draft.id)
            }
            guard case .sent = try await storage.change(made.id, in: hub, version: 1, to: text("Other")) else {
                Issue.record("A campaign was changed after it was sent.")
                return
            }
        }
    }

    @Test func campaignsAreOfOneHubPagedAndTheirNumbersAreNotGivenAgain() async throws {
        try await withHub { storage, hub in
            let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
            var ids: [Campaign.ID] = []
            for number in 0..<5 {
                ids.append(try #require(try await storage.addCampaign(text("\(number)"), in: hub)).id)
            }
            let first = try await storage.campaigns(in: hub, before: nil, limit: 3)
            let rest = try await storage.campaigns(in: hub, before: first.last?.id, limit: 3)
            #expect((first + rest).map(\.id) == ids.reversed())
            #expect(try await storage.campaign(ids[0], in: other) == nil)
            #expect(try await !storage.removeCampaign(ids[4], in: other))
            #expect(try await storage.removeCampaign(ids[4], in: hub))
            #expect(try await !storage.removeCampaign(ids[4], in: hub))
            let next = try #require(try await storage.addCampaign(text("next"), in: hub))
            #expect(!ids.contains(next.id))
        }
    }

    @Test func aHubHasBoundedCampaignsAlsoIfManyAddThemAtOnce() async throws {
        try await withHub { storage, hub in
            try await storage.transaction { connection, patience throws(DatabaseFailure) in
                let filling = Statement.rare(
                    [.int4, .int8],
                    """
                    WITH numbers AS (INSERT INTO campaign_numbers (shard, last) VALUES ($1, $2))
                    INSERT INTO campaigns (shard, id, name, draft, version, created_at, changed_at, changed_by)
                    SELECT $1, n, 'x', '{}', 1, 0, 0, 'administrator' FROM generate_series(1, $2) n
                    """)
                try connection.run(
                    Batch(filling) {
                        $0.add(Shard(hub).number)
                        $0.add(Int64(Campaign.countLimit - 2))
                    }, patience)
            }
            let added = try await withThrowingTaskGroup { group in
                for number in 0..<6 {
                    group.addTask { try await storage.addCampaign(text("\(number)"), in: hub) != nil }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(added == 2)
        }
    }

    @Test func theCampaignsOfADeletedHubGoWithIt() async throws {
        try await withHub { storage, hub in
            _ = try await storage.addCampaign(text("Spring"), in: hub)
            #expect(try await storage.deleteHub(hub))
            #expect(try await storage.campaigns(in: hub, before: nil, limit: 9).isEmpty)
            #expect(try await storage.addCampaign(text("Summer"), in: hub) == nil)
        }
    }
}
