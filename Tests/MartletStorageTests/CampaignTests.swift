import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// Campaigns are kept as they were written last, until they are sent.
struct CampaignTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func withStorage(_ work: (SQLiteStorage, Hub.ID) async throws -> Void) async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "shop", settings: HubSettings(), at: now)).id
        try await work(storage, hub)
        await storage.close()
    }

    private func text(_ name: String, _ draft: String = "{}") -> CampaignText {
        CampaignText(name: name, draft: draft, author: .operator("ops"), at: now)
    }

    @Test func aDraftIsReplacedOnlyByWhoHasSeenIt() async throws {
        try await withStorage { storage, hub in
            let made = try #require(try await storage.addCampaign(text("Spring", "{\"a\":1}"), in: hub))
            guard
                case .changed(let second) = try await storage.change(
                    made.id, in: hub, version: made.version, to: text("Spring", "{\"a\":2}"))
            else {
                Issue.record("The draft was not replaced.")
                return
            }
            #expect(second.version == 2 && second.draft == "{\"a\":2}")
            guard
                case .conflicting(let kept) = try await storage.change(
                    made.id, in: hub, version: made.version, to: text("Spring", "{\"a\":3}"))
            else {
                Issue.record("A draft that nobody has seen was replaced.")
                return
            }
            #expect(kept.draft == "{\"a\":2}")
            #expect(try await storage.campaign(made.id, in: hub)?.draft == "{\"a\":2}")
            #expect(try await storage.campaigns(in: hub, before: nil, limit: 9).map(\.draft) == ["{}"])
        }
    }

    @Test func whatWasSentStays() async throws {
        try await withStorage { storage, hub in
            let made = try #require(try await storage.addCampaign(text("Spring"), in: hub))
            let draft = NotificationDraft(
                id: NotificationID(at: now), hub: hub,
                content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])),
                target: .audience(nil),
                acceptedAt: now, expiresAt: now + .seconds(3600))
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

    @Test func campaignsAreOfOneHubPagedAndBounded() async throws {
        try await withStorage { storage, hub in
            let other = try #require(try await storage.createHub(name: "other", settings: HubSettings(), at: now)).id
            var ids: [Campaign.ID] = []
            for number in 0..<5 {
                ids.append(try #require(try await storage.addCampaign(text("\(number)"), in: hub)).id)
            }
            let first = try await storage.campaigns(in: hub, before: nil, limit: 3)
            let rest = try await storage.campaigns(in: hub, before: first.last?.id, limit: 3)
            #expect((first + rest).map(\.id) == ids.reversed())
            #expect(try await storage.campaign(ids[0], in: other) == nil)
            #expect(try await !storage.removeCampaign(ids[0], in: other))
            #expect(try await storage.removeCampaign(ids[0], in: hub))
            #expect(try await !storage.removeCampaign(ids[0], in: hub))
            try await storage.writer.write { connection throws(StorageError) in
                try connection.run(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO campaigns (hub, name, draft, version, created_at, changed_at, changed_by)
                    SELECT ?, 'x', '{}', 1, 0, 0, 'administrator' FROM n
                    """, Campaign.countLimit, other.rawValue)
            }
            #expect(try await storage.addCampaign(text("one more"), in: other) == nil)
            #expect(try await storage.addCampaign(text("here"), in: hub) != nil)
        }
    }
}
