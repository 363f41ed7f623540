import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// One node at a time serves a database.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct NodeFenceTests {
    private let patience = Connection.Patience.until(.now + .seconds(60))

    private func quick() -> PostgresStorage.Options {
        var options = TestDatabase.fresh()
        options.admitsOthers = false
        options.takeover = .milliseconds(200)
        return options
    }

    @Test func aSecondNodeIsRefusedUntilTheFirstHasEnded() async throws {
        let options = quick()
        let first = try await TestDatabase.open(options)
        await #expect(throws: NodeFence.replaced) { _ = try await TestDatabase.open(options) }
        try await first.probe()
        await first.close()
        let second = try await TestDatabase.open(options)
        try await second.probe()
        await second.close()
    }

    @Test func aNodeThatWasCutOffLearnsThatAnotherHasTakenItsPlace() async throws {
        let cluster = try #require(TestCluster.shared)
        let options = quick()
        let address = try DatabaseAddress("\(cluster.address)&application_name=\(options.schema)")
        let first = try await PostgresStorage.open(address, sealer: PlainSealer(), options: options)
        let hub = try #require(
            try await first.createHub(name: "loft", settings: HubSettings(), at: Timestamp(seconds: 1)))
        // Its connections end, and another node is faster than it.
        let connection = try TestDatabase.settings().connect()
        let terminate = Statement.rare(
            [.text], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1")
        _ = try connection.run(Batch(terminate) { $0.add(options.schema) }, patience)
        let second = try await TestDatabase.open(options)
        await #expect(throws: NodeFence.replaced) { try await first.probe() }
        await #expect(throws: NodeFence.replaced) {
            _ = try await first.updateHub(hub.id, settings: HubSettings(), at: Timestamp(seconds: 2))
        }
        #expect(try await second.hubs().map(\.modifiedAt) == [Timestamp(seconds: 1)])
        await first.close()
        await second.close()
    }

    @Test func aNodeWithAnotherSecretKeyIsRefused() async throws {
        let options = quick()
        await (try await TestDatabase.open(options)).close()
        let cluster = try #require(TestCluster.shared)
        await #expect {
            _ = try await PostgresStorage.open(
                try DatabaseAddress(cluster.address), sealer: OtherSealer(), options: options)
        } throws: { "\($0)".contains("another secret key") }
        await (try await TestDatabase.open(options)).close()
    }
}

/// Opens nothing that others have sealed.
private struct OtherSealer: Sealer {
    let mark: [UInt8] = [0x01]

    func seal(_ secret: [UInt8], context: String) -> [UInt8] { mark + secret }
    func open(_ sealed: [UInt8], context: String) -> [UInt8]? { sealed.first == 0x01 ? Array(sealed.dropFirst()) : nil }
}
