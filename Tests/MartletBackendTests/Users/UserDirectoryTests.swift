import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

struct UserDirectoryTests {
    @Test func usersAreAddedListedAndRemoved() async throws {
        let fixture = try await Fixture()
        try await fixture.users.add("Dora", password: "x")
        #expect(try await fixture.users.list().map(\.name) == ["alice", "bob", "carol", "Dora"])
        try await fixture.removal.remove("DORA")
        #expect(try await fixture.users.list().map(\.name) == ["alice", "bob", "carol"])
        await #expect(throws: UserDirectoryError.self) { try await fixture.removal.remove("dora") }
    }

    @Test func theDevicesOfARemovedUserShowNothingToWhoGetsTheNameNext() async throws {
        let fixture = try await Fixture()
        let hub = try #require(fixture.hubs.hub(named: "hub")).id
        for number in 1...101 {
            #expect(await fixture.put("a\(number)", "loft\(number)", as: "alice").status == .ok)
        }
        #expect(await fixture.put("b", "bobs", as: "bob").status == .ok)
        try await fixture.removal.remove("Alice")
        try await fixture.users.add("alice", password: "alice1")
        let left = try await fixture.devices.registrations(in: hub, limit: 200).registrations
        #expect(left.map(\.id) == ["b"])
        #expect(await fixture.put("a1", "loft1", as: "alice").status == .gone)
    }

    @Test("A user with pages of devices that cannot be unregistered one by one is removed", .timeLimit(.minutes(10)))
    func devicesThatStayDoNotKeepTheRemovalGoing() async throws {
        let fixture = try await Fixture()
        let hub = try #require(fixture.hubs.hub(named: "hub")).id
        let tag = try UserName("alice").tag
        for number in 1...101 {
            let row = RegistrationDraft(
                platform: CarrierPigeon.platform, handle: PushHandle("loft\(number)"), handleKey: "loft\(number)",
                tags: [tag])
            let installation = InstallationDraft(
                id: "i\(number)", document: [], expiresAt: nil,
                rows: [InstallationRow(slot: "native", registration: row)])
            _ = try await fixture.storage.apply(
                .put(installation, condition: .none), in: hub, at: fixture.time.now)
        }
        try await fixture.removal.remove("alice")
        #expect(try await fixture.users.list().map(\.name) == ["bob", "carol"])
    }

    @Test func aPasswordIsStoredAsItsHashAlone() async throws {
        let fixture = try await Fixture()
        let hash = try #require(try await fixture.users.list().first?.passwordHash)
        #expect(hash.hasPrefix("$argon2id$"))
        #expect(!hash.contains("alice1"))
    }

    @Test(arguments: ["", "a\nb", "a\r", "a\0", String(repeating: "a", count: 1025)])
    func aPasswordThatLogInWouldMisreadIsRefused(password: String) async throws {
        let fixture = try await Fixture()
        await #expect(throws: UserDirectoryError.self) { try await fixture.users.add("dora", password: password) }
    }

    @Test func aUserWhoIsNotThereCostsAsMuchAsOneWhoIs() async throws {
        let fixture = try await Fixture()
        let cost = Argon2id.Parameters(memory: 16_384, iterations: 2, parallelism: 1)
        let users = UserDirectory(store: fixture.storage, time: fixture.time, cost: cost)
        let hash = try Argon2id.hash(Array("right".utf8), parameters: cost)
        #expect(await users.verify(Array("right".utf8), against: hash, share: .own) == true)
        #expect(await users.verify(Array("right".utf8), against: nil, share: .own) == false)
        // The cost, and the lengths that are read: all but the salt and the hash themselves.
        #expect(cost.decoy.split(separator: "$").dropLast(2) == hash.split(separator: "$").dropLast(2))
        #expect(cost.decoy.split(separator: "$").map(\.count) == hash.split(separator: "$").map(\.count))
    }
}
