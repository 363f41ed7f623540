import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres
@testable import MartletTesting

/// Hubs on two clusters: moves, what a move that is killed leaves, and a cluster that cannot be reached.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"), .timeLimit(.minutes(10)))
struct ClusterTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    /// Every requirement of a storage, with every other hub on the second cluster.
    @Test(arguments: StorageConformance.requirements)
    func postgresWithTwoClusters(_ requirement: StorageConformance.Requirement) async throws {
        try await TestClusters.with(isSpread: true) { try await requirement.check($0[0]) }
    }

    @Test func aHubMovesWithAllItsRowsAndBack() async throws {
        try await TestClusters.with { nodes in
            let (bench, storage) = (StorageBench(nodes[0]), nodes[0])
            let (hub, other) = (try await bench.hub("loft"), try await bench.hub("barn"))
            for hub in [hub, other] { try await fill(hub, bench) }
            let before = Set(try await bench.list(hub).joined())
            var expected = before
            for (number, cluster) in [2, 1, 2].enumerated() {
                let progress = try await storage.move(hub, toCluster: cluster) { _ in }
                #expect(progress.phase == .done)
                #expect(progress.compared >= 1000)
                _ = try await storage.nodeStoreOfAll?.renew()
                #expect(try storage.storage(of: hub) === storage.storage(ofCluster: Int32(cluster)))
                #expect(try storage.storage(of: other) === storage.home)
                #expect(Set(try await bench.list(hub).joined()) == expected)
                #expect(try await bench.audience(hub, "even").handles.count == 500)
                // Rows that changed since are in the copy, and rows that are gone are not.
                try await bench.put("1", "moved-\(number)", in: hub)
                #expect(try await bench.refusalOfDelete("d\(number)", in: hub) == nil)
                try await bench.put("e\(number)", "new-\(number)", number == 0 ? ["even"] : [], in: hub)
                expected = expected.subtracting(["d\(number)"]).union(["e\(number)"])
            }
            #expect(Set(try await bench.list(other).joined()) == before)
        }
    }

    /// What a hub has left in a cluster is used by the move that brings the hub back, which leaves no marks.
    @Test func aHubThatComesBackHasNoPacksOfBefore() async throws {
        try await TestClusters.with { nodes in
            let (bench, storage) = (StorageBench(nodes[0]), nodes[0])
            let hub = try await bench.hub()
            for number in 0..<9 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let home = storage.home
            let scope = Scope(platform: try #require(try await home.number(of: bench.platform)), .native)
            // Packs are for large hubs.
            try await home.transaction { connection, patience throws(DatabaseFailure) in
                let growth = Batch(.rare([], "UPDATE ordinals SET channels = channels + 20000"))
                _ = try connection.run(growth, patience)
            }
            try await home.packMaker?.make(PackBlock(shard: Shard(hub), scope: scope, number: 0))
            #expect(try await bench.audience(hub).handles.count == 9)
            #expect(try await packs(home) > 0)
            _ = try await storage.move(hub, toCluster: 2) { _ in }
            _ = try await storage.nodeStoreOfAll?.renew()
            #expect(try await packs(storage.storage(ofCluster: 2)) == 0)
            #expect(try await bench.refusalOfDelete("1", in: hub) == nil)
            _ = try await storage.move(hub, toCluster: 1) { _ in }
            #expect(try await packs(home) == 0)
            _ = try await storage.nodeStoreOfAll?.renew()
            #expect(try await bench.audience(hub).handles.count == 8)
        }
    }

    private func packs(_ storage: PostgresStorage) async throws -> Int64 {
        try await storage.read(Batch(.rare([], "SELECT count(*) FROM packs")))[0][0].integer(0)
    }

    private func fill(_ hub: Hub.ID, _ bench: StorageBench) async throws {
        let drafts = try (0..<997).map { number in
            RegistrationChange.put(
                try bench.draft("h\(number)", number % 2 == 0 ? ["even"] : []), id: "\(number)", condition: .none)
        }
        _ = try await bench.storage.apply(drafts, in: hub, at: now)
        for number in 0..<3 {
            try await bench.put("d\(number)", "x\(number)", number == 0 ? ["even"] : [], in: hub)
            _ = try await bench.accept(hub)
        }
    }

    @Test func nothingIsWrittenWhereAHubIsNotAnyMore() async throws {
        try await TestClusters.with(2) { nodes in
            let bench = StorageBench(nodes[0])
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            // The second node learns of the hub, and then of nothing more.
            _ = try await nodes[1].hubs()
            _ = try await nodes[0].move(hub, toCluster: 2) { _ in }
            let (late, draft) = (StorageBench(nodes[1]), bench.notificationDraft(hub))
            let text = CampaignText(name: "Spring", draft: "{}", author: .administrator, at: now)
            await expectUnavailable { try await late.put("2", "b", in: hub) }
            await expectUnavailable { _ = try await late.storage.accept(draft) }
            await expectUnavailable { _ = try await nodes[1].addCampaign(text, in: hub) }
            _ = try await nodes[1].nodeStoreOfAll?.renew()
            try await late.put("2", "b", in: hub)
            #expect(try await bench.registration("2", in: hub) != nil)
        }
    }

    private func expectUnavailable(_ work: () async throws -> Void) async {
        await #expect {
            try await work()
        } throws: {
            ($0 as? StorageError)?.kind == .unavailable
        }
    }

    @Test(arguments: HubMove.Step.allCases)
    func aKilledMoveLeavesTheHubOnOneCluster(_ step: HubMove.Step) async throws {
        try await TestClusters.with(2) { nodes in
            let bench = StorageBench(nodes[0])
            let hub = try await bench.hub()
            for number in 0..<20 { try await bench.put("\(number)", "h\(number)", in: hub) }
            await #expect(throws: StorageError.self) {
                _ = try await nodes[0].move(hub, toCluster: 2, isKilled: { $0 == step })
            }
            // The other node ends the move, and lets the hub be written to.
            let later = StorageBench(nodes[1])
            try await settle(hub, nodes[1])
            #expect(try await later.list(hub).joined().count == 20)
            try await later.put("new", "n", in: hub)
            let route = try await nodes[1].home.route(of: hub)
            let hasMoved = [.switched, .completed].contains(step)
            #expect(route?.cluster == (hasMoved ? 2 : 1))
            #expect(route?.move == nil)
            // A copy that was ready is what a move has left: no node sends for it.
            if step == .prepared {
                #expect(try await nodes[1].storage(ofCluster: 2).movingShards().map(\.hub) == [hub])
            }
            // The next attempt succeeds.
            let target = hasMoved ? 1 : 2
            _ = try await nodes[1].move(hub, toCluster: target) { _ in }
            _ = try await nodes[1].nodeStoreOfAll?.renew()
            #expect(try await later.list(hub).joined().count == 21)
            #expect(try await nodes[1].nodeStoreOfAll?.renew().hubs.keys.contains(hub) == true)
        }
    }

    /// Renews until a move that has ended is noticed, and the hub can be written to.
    private func settle(_ hub: Hub.ID, _ node: ClusteredStorage) async throws {
        while true {
            _ = try await node.nodeStoreOfAll?.renew()
            let isStopped = try await node.storage(of: hub).movingShards().contains { $0.hub == hub }
            if try await node.home.route(of: hub)?.move == nil, !isStopped { return }
            // The server notices soon that a connection is gone.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func whatAMoveHasLeftIsRemovedAndNothingElse() async throws {
        try await TestClusters.with { nodes in
            let (bench, storage) = (StorageBench(nodes[0]), nodes[0])
            let (hub, other) = (try await bench.hub("loft"), try await bench.hub("barn"))
            for hub in [hub, other] { try await bench.put("1", "a", in: hub) }
            _ = try await storage.move(hub, toCluster: 2) { _ in }
            _ = try await storage.nodeStoreOfAll?.renew()
            try await storage.removeLeftovers(olderThan: .zero)
            try await storage.removeLeftovers(olderThan: .zero)
            #expect(try await storage.home.registration("1", in: hub, at: now) == nil)
            #expect(try await storage.home.registration("1", in: other, at: now) != nil)
            #expect(try await bench.registration("1", in: hub) != nil)
            #expect(try await storage.deleteHub(hub))
            #expect(try await storage.storage(ofCluster: 2).registration("1", in: hub, at: now) == nil)
            #expect(try await storage.hubs().map(\.id) == [other])
        }
    }

    @Test func aClusterThatCannotBeReachedStopsOnlyItsHubs() async throws {
        try await TestClusters.with(isSpread: true) { nodes in
            let bench = StorageBench(nodes[0])
            let hubs = [try await bench.hub("loft"), try await bench.hub("barn")]
            for hub in hubs { try await bench.put("1", "a", in: hub) }
            // A node that starts while the second cluster is away.
            let text = "postgres://postgres@/martlet?host=/nowhere"
            let sealed = PlainSealer().seal(Array(text.utf8), context: "clusters/2")
            _ = try await nodes[0].home.change(.rare([.bytes], "UPDATE clusters SET sealed_address = $1")) {
                $0.add(sealed)
            }
            let late = try await TestClusters.open(nodes[0].schema)
            let renewal = try #require(try await late.nodeStoreOfAll?.renew())
            #expect(renewal.liveNodes == 2)
            for hub in hubs {
                if hub.rawValue % 2 == 0 {
                    #expect(try await late.registration("1", in: hub, at: now) != nil)
                } else {
                    await expectUnavailable { _ = try await late.registration("1", in: hub, at: now) }
                }
            }
            #expect(try await late.controlled().isEmpty)
            #expect(try await late.clusters().map { $0.obstacle == nil } == [true, false])
            await late.close()
        }
    }

    @Test func onlyAnEmptyDatabaseBecomesACluster() async throws {
        try await TestClusters.with { nodes in
            let first = try #require(TestCluster.shared?.address)
            await expectUnavailable { _ = try await nodes[0].addCluster(first, at: now) }
            // Adding a cluster once more changes its address only.
            let second = try #require(TestClusters.secondAddress)
            let again = try await nodes[0].addCluster("\(second)&connect_timeout=9", at: now)
            #expect(again == ClusterAddition(number: 2, isNew: false))
            #expect(try await nodes[0].clusters().map(\.number) == [1, 2])
            // Nobody serves the second cluster as a first one.
            await #expect(throws: StorageError.self) {
                _ = try await PostgresStorage.open(
                    try DatabaseAddress(second), sealer: PlainSealer(),
                    options: TestDatabase.options(schema: nodes[0].schema))
            }
            let hub = try await StorageBench(nodes[0]).hub()
            await expectUnavailable { _ = try await nodes[0].move(hub, toCluster: 1) { _ in } }
            await expectUnavailable { _ = try await nodes[0].move(hub, toCluster: 7) { _ in } }
        }
    }

    /// Changes what the second cluster's database says about its place.
    private func setPlace(_ number: Int32, _ home: Int64?, _ schema: String) throws {
        let address = try DatabaseAddress(try #require(TestClusters.secondAddress))
        try BulkConnection(address, [("search_path", schema)]).run(ClusterStatements.setPlace) {
            $0.add(number)
            $0.add(home)
        }
    }

    @Test func aDatabaseThatWasMadeAnewIsNoClusterWithHubs() async throws {
        try await TestClusters.with(isSpread: true) { nodes in
            let bench = StorageBench(nodes[0])
            let hubs = [try await bench.hub("loft"), try await bench.hub("barn")]
            let hub = try #require(hubs.first { $0.rawValue % 2 == 1 })
            try await bench.put("1", "a", in: hub)
            let second = try #require(TestClusters.secondAddress)
            let home = try #require(nodes[0].directory.home)
            try setPlace(1, nil, nodes[0].schema)
            // A node that connects now is refused, and takes the cluster for one that is away.
            let late = try await TestClusters.open(nodes[0].schema)
            _ = try await late.nodeStoreOfAll?.renew()
            await expectUnavailable { _ = try await late.registration("1", in: hub, at: now) }
            #expect(try await late.nodeStoreOfAll?.renew().clusters.map { $0.obstacle == nil } == [true, false])
            try BulkConnection(DatabaseAddress(second), [("search_path", nodes[0].schema)]).run("DELETE FROM nodes")
            await #expect {
                _ = try await nodes[0].addCluster(second, at: now)
            } throws: {
                "\($0)".contains("Restore the backup")
            }
            try setPlace(2, home, nodes[0].schema)
            while late.members.contains(where: { $0.failure != nil }) {
                try await Task.sleep(for: .milliseconds(20))
                _ = try await late.nodeStoreOfAll?.renew()
            }
            #expect(try await late.registration("1", in: hub, at: now) != nil)
            await late.close()
        }
    }

    @Test func aNodeUsesTheNewAddressOfAClusterAndBeginsThereAnew() async throws {
        try await TestClusters.with(2, isSpread: true) { nodes in
            let bench = StorageBench(nodes[0])
            let hubs = [try await bench.hub("loft"), try await bench.hub("barn")]
            for hub in hubs { try await bench.put("1", "a", in: hub) }
            let old = nodes.map { $0.members[0] }
            let second = try #require(TestClusters.secondAddress)
            _ = try await nodes[0].addCluster("\(second)&connect_timeout=9", at: now)
            for (node, old) in zip(nodes, old) {
                // The hubs there are given up with the first renewal.
                let renewal = try #require(try await node.nodeStoreOfAll?.renew())
                #expect(renewal.hubs.keys.allSatisfy { $0.rawValue % 2 == 0 })
                #expect(node.members.map(\.number) == [2])
                #expect(node.members[0] !== old)
                while node.members[0].lease == nil {
                    try await Task.sleep(for: .milliseconds(20))
                    _ = try await node.nodeStoreOfAll?.renew()
                }
                for hub in hubs { #expect(try await node.registration("1", in: hub, at: now) != nil) }
            }
        }
    }

    @Test func onlyAClusterWithoutHubsIsRemoved() async throws {
        try await TestClusters.with { nodes in
            let storage = nodes[0]
            let hub = try await StorageBench(storage).hub()
            _ = try await storage.move(hub, toCluster: 2) { _ in }
            await expectUnavailable { try await storage.removeCluster(2) }
            await expectUnavailable { try await storage.removeCluster(1) }
            _ = try await storage.move(hub, toCluster: 1) { _ in }
            try await storage.removeCluster(2)
            #expect(try await storage.clusters().map(\.number) == [1])
            #expect(storage.members.isEmpty)
            await expectUnavailable { _ = try await storage.move(hub, toCluster: 2) { _ in } }
            // The mark in its database still says which one it was.
            let second = try #require(TestClusters.secondAddress)
            #expect(try await storage.addCluster(second, at: now) == ClusterAddition(number: 2, isNew: true))
        }
    }
}
