import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// A page of a listing must not cost as much as the hub is large.
struct ListingPlanTests {
    private let directory = TemporaryDirectory()

    private func plan(_ filter: RegistrationQuery.Filter) async throws -> [String] {
        try await plan(of: RegistrationTable.sql(for: filter))
    }

    private func plan(of sql: String) async throws -> [String] {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let sql = "EXPLAIN QUERY PLAN \(sql)"
        let plan = try await storage.readers.read { connection throws(StorageError) in
            try connection.all(sql) { $0.text(3) }
        }
        await storage.close()
        return plan
    }

    @Test func aListingOfAllGoesAlongTheHubsIndexWithoutSorting() async throws {
        let plan = try await plan(.all)
        #expect(plan.first == "SEARCH r USING INDEX registrations_by_hub (hub=? AND rowid>?)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") })
    }

    @Test func aListingByTagBeginsWithTheTagsMembers() async throws {
        let plan = try await plan(.tag(try Tag("news")))
        #expect(plan.first == "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)")
        #expect(plan.contains("SEARCH tag_members USING PRIMARY KEY (tag=?)"))
        #expect(!plan.contains { $0.contains("SCAN") || $0.contains("TEMP B-TREE") })
    }

    @Test func aListingByHandleBeginsWithItsChannel() async throws {
        let plan = try await plan(.handle(platform: nil, key: "ab"))
        #expect(plan.first == "SEARCH c USING INDEX channels_by_key (hub=? AND key=?)")
        #expect(plan.dropFirst().first?.hasPrefix("SEARCH r USING INDEX registrations_by_channel (channel=?") == true)
    }

    @Test("A listing of the notifications with refusals looks at no others")
    func aListingOfRefusedNotificationsLooksAtNoOthers() async throws {
        let plan = try await plan(of: RefusalTable.listing)
        #expect(plan == ["SEARCH notifications USING INDEX notifications_with_refusals (hub=? AND id>?)"])
    }

    @Test func theRowsOfAnInstallationAreFoundByItsIndex() async throws {
        let plan = try await plan(of: "\(StoredRegistration.selection) WHERE r.installation = 1")
        #expect(plan.first == "SEARCH r USING INDEX registrations_by_installation (installation=?)")
    }
}
