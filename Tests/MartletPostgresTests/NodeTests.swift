import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

/// Nodes divide the hubs of a database among themselves.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct NodeTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func hub(_ name: String = "loft", of node: PostgresStorage) async throws -> Hub.ID {
        try #require(try await node.createHub(name: name, settings: HubSettings(), at: now)).id
    }

    private func draft(in hub: Hub.ID, dueIn seconds: Int? = nil) -> NotificationDraft {
        NotificationDraft(
            id: NotificationID(at: now), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1], fields: [:])), target: .audience(nil),
            acceptedAt: now, dueAt: seconds.map { now + .seconds($0) }, expiresAt: now + .seconds(3600))
    }

    private func register(in hub: Hub.ID, by node: PostgresStorage) async throws {
        let device = RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"), handleKey: "h", tags: [])
        _ = try await node.apply(.put(device, id: "1", condition: .none), in: hub, at: now).get()
    }

    /// Sends to a device, and returns the delivery.
    @discardableResult
    private func accept(in hub: Hub.ID, by node: PostgresStorage) async throws -> Delivery {
        try await register(in: hub, by: node)
        guard case .accepted(_, let deliveries) = try await node.accept(draft(in: hub)) else {
            throw StorageError(.corrupt, "The notification was not accepted.")
        }
        return try #require(deliveries.first)
    }

    private func step(_ delivery: Delivery, isLast: Bool = false) -> DeliveryStep {
        DeliveryStep(
            delivery: delivery.id, cursor: AudienceMember(channel: delivery.bounds.channel), isFannedOut: isLast,
            state: isLast ? .completed : .processing, startedAt: now, endedAt: isLast ? now : nil)
    }

    // MARK: Leases

    private func set(_ assignments: String, of node: PostgresStorage) async throws {
        let id = node.nodes.incarnation
        try await node.transaction { connection, patience throws(DatabaseFailure) in
            let setting = Statement.rare([.int8], "UPDATE nodes SET \(assignments) WHERE incarnation = $1")
            _ = try connection.run(Batch(setting) { $0.add(id) }, patience)
        }
    }

    /// Makes a node look as if it had not renewed its lease for two hours.
    private func silence(_ node: PostgresStorage) async throws {
        try await set(
            "renewed_at = clock_timestamp() - interval '2 h', until = clock_timestamp() - interval '1 h'", of: node)
    }

    /// Makes a node look as if it had renewed its lease for an hour.
    private func makeSteady(_ node: PostgresStorage) async throws {
        try await set("steady_since = clock_timestamp() - interval '1 h'", of: node)
    }

    @Test func theFormerOwnerOfAHubRecordsNothingAfterATakeover() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (former, next) = (nodes[0], nodes[1])
            let hub = try await hub(of: former)
            let delivery = try await accept(in: hub, by: former)
            #expect(try await former.record(step(delivery)))
            #expect(try await !next.record(step(delivery)))
            try await silence(former)
            try await makeSteady(next)
            #expect(try await Set(next.nodes.renew().hubs.keys) == [hub])
            #expect(try await !former.record(step(delivery, isLast: true)))
            #expect(former.nodes.refusedRecords == 1)
            #expect(try await former.unfinished(after: .none, limit: 9).isEmpty)
            #expect(
                try await next.unfinished(after: .none, limit: 9).map(\.cursor.channel) == [delivery.bounds.channel])
            #expect(try await next.record(step(delivery, isLast: true)))
            await #expect(throws: PostgresNodes.replaced) { try await former.nodes.renew() }
            #expect(PostgresNodes.replaced.kind == .locked)
        }
    }

    @Test func theNextOwnerHasWhatTheFormerHasStoredAsReachedAndNothingMore() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (former, next) = (nodes[0], nodes[1])
            let hub = try await hub(of: former)
            let delivery = try await accept(in: hub, by: former)
            let (map, other) = (MemoryProgressMaps().map(for: delivery.id), MemoryProgressMaps().map(for: delivery.id))
            map.insert(AudienceMember(channel: ChannelID(rawValue: 7)))
            #expect(try await former.record(ReachedBlocks([0], of: map), of: delivery.id))
            other.insert(AudienceMember(channel: ChannelID(rawValue: 8)))
            #expect(try await !next.record(ReachedBlocks([0], of: other), of: delivery.id))
            try await former.nodes.leave()
            #expect(try await Set(next.nodes.renew().hubs.keys) == [hub])
            map.insert(AudienceMember(channel: ChannelID(rawValue: 9)))
            #expect(try await !former.record(ReachedBlocks([0], of: map), of: delivery.id))
            #expect(try await next.unfinished(after: .none, limit: 9).map(\.hasReached) == [true])
            #expect(try await next.reached(by: delivery.id) == DeliveredBitmap.blocks(of: [7]))
        }
    }

    @Test func theHubsOfADeadNodeAreTakenWithOneRenewalOfEachOther() async throws {
        try await TestDatabase.withNodes(3) { nodes in
            for number in 0..<5 { _ = try await hub("loft\(number)", of: nodes[0]) }
            try await silence(nodes[0])
            try await makeSteady(nodes[1])
            let renewals = [try await nodes[1].nodes.renew(), try await nodes[2].nodes.renew()]
            #expect(renewals.map(\.hubs.count).sorted() == [2, 3])
            #expect(Set(renewals.flatMap(\.hubs.keys)).count == 5)
            #expect(renewals.map(\.liveNodes) == [2, 2])
        }
    }

    @Test func aNodeWhoseOwnLeaseHadEndedTakesNobodyForDead() async throws {
        try await TestDatabase.withNodes(3) { nodes in
            let hub = try await hub(of: nodes[0])
            try await silence(nodes[0])
            // One has only begun, and one has been away like the owner itself.
            try await makeSteady(nodes[2])
            try await silence(nodes[2])
            for node in nodes[1...] { #expect(try await node.nodes.renew().hubs.isEmpty) }
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == [hub])
        }
    }

    @Test func aNodeThatHasJoinedAndNotRenewedYetTakesNobodyForDead() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let hub = try await hub(of: nodes[0])
            try await silence(nodes[0])
            try await set("renewed_at = started_at, steady_since = now() - interval '1 h'", of: nodes[1])
            #expect(try await nodes[1].nodes.renew().hubs.isEmpty)
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == [hub])
        }
    }

    @Test func aNodeWhoseRenewalsHadAGapTakesNobodyForDead() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let hub = try await hub(of: nodes[0])
            try await silence(nodes[0])
            // Its lease lasts 600 seconds, so it has not ended.
            try await set(
                """
                steady_since = now() - interval '1 h', renewed_at = now() - interval '301 s',
                until = now() + interval '299 s'
                """, of: nodes[1])
            #expect(try await nodes[1].nodes.renew().hubs.isEmpty)
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == [hub])
        }
    }

    /// As while COMMITs wait for a standby: nobody sees the renewals, and their rows are locked.
    @Test func aNodeWhoseRenewalIsNotCommittedYetIsNotTakenForDead() async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.withNodes(2, options) { nodes in
            let hub = try await hub(of: nodes[0])
            try await silence(nodes[0])
            try await makeSteady(nodes[1])
            let connection = try TestDatabase.settings(options).connect()
            var renewal = Batch(.begin)
            renewal.add(
                .rare([.int8], "UPDATE nodes SET until = clock_timestamp() + interval '1 h' WHERE incarnation = $1")
            ) {
                $0.add(nodes[0].nodes.incarnation)
            }
            try connection.run(renewal, .until(.now + .seconds(60)))
            // It does not wait either.
            #expect(try await nodes[1].nodes.renew().hubs.isEmpty)
            try connection.run(Batch(.commit), .until(.now + .seconds(60)))
            #expect(try await nodes[1].nodes.renew().hubs.isEmpty)
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == [hub])
        }
    }

    @Test func aNodeThatLeavesIsFollowedAtOnce() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let hub = try await hub(of: nodes[0])
            try await nodes[0].nodes.leave()
            #expect(try await Set(nodes[1].nodes.renew().hubs.keys) == [hub])
            await #expect(throws: PostgresNodes.replaced) { try await nodes[0].nodes.renew() }
        }
    }

    /// A restored database gives the incarnations that came after the backup once more.
    @Test func ofTwoNodesWithOneIncarnationOnlyTheOneThatJoinedLastGoesOn() async throws {
        try await TestDatabase.with { node in
            try await set("started_at = started_at + interval '1 microsecond'", of: node)
            await #expect(throws: PostgresNodes.replaced) { try await node.nodes.renew() }
        }
    }

    @Test func aProcessThatFollowsAnotherInItsPlaceHasItsHubsAtOnce() async throws {
        var options = TestDatabase.fresh()
        let former = try await TestDatabase.open(options)
        let hub = try await hub(of: former)
        (options.predecessor, options.node, options.version) = (former.nodes.incarnation, "b", "2.0")
        let next = try await TestDatabase.open(options)
        #expect(next.nodes.incarnation > former.nodes.incarnation)
        #expect(try await Set(next.nodes.renew().hubs.keys) == [hub])
        let listed = try await next.nodes.nodes()
        #expect(listed.map(\.incarnation) == [former.nodes.incarnation, next.nodes.incarnation])
        #expect(listed.map(\.isAlive) == [false, true])
        #expect(listed.map(\.hubs) == [0, 1])
        #expect(listed[1].name == "b" && listed[1].version == "2.0")
        #expect(listed[1].renewedAt >= listed[1].startedAt)
        await former.close()
        await next.close()
    }

    @Test func idleHubsAreHandedToTheNodeThatOwnsTheFewest() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            var hubs: [Hub.ID] = []
            for number in 0..<4 { hubs.append(try await hub("loft\(number)", of: nodes[0])) }
            let delivery = try await accept(in: hubs[0], by: nodes[0])
            try await accept(in: hubs[1], by: nodes[0])
            try await nodes[0].createJob(try job("j", in: hubs[2]))
            // Two are to go, and one is idle.
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == Set(hubs[...2]))
            #expect(try await Set(nodes[1].nodes.renew().hubs.keys) == [hubs[3]])
            #expect(try await nodes[0].record(step(delivery, isLast: true)))
            #expect(try await Set(nodes[0].nodes.renew().hubs.keys) == Set(hubs[1...2]))
            #expect(try await Set(nodes[1].nodes.renew().hubs.keys) == [hubs[0], hubs[3]])
        }
    }

    // MARK: Changes of other nodes

    /// The next hints of a node that is told of something.
    private func hints(_ count: Int, to node: PostgresStorage) async -> [NodeHint] {
        var hints: [NodeHint] = []
        for await hint in node.nodes.hints {
            hints.append(hint)
            if hints.count == count { break }
        }
        return hints
    }

    @Test func theOwnerIsToldWhatAnotherNodeChanges() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (owner, other) = (nodes[0], nodes[1])
            let hub = try await hub(of: owner)
            let own = try await accept(in: hub, by: owner)
            #expect(try await owner.nodes.renew().hubs == [hub: 0], "what a node does itself is not counted")
            let accepted = try await other.accept(draft(in: hub))
            guard case .accepted(_, let deliveries) = accepted else { throw PostgresNodes.notOwner }
            #expect(deliveries.isEmpty, "the owner sends them")
            let new = try await owner.unfinished(after: own.id, limit: 9).map(\.delivery.id)
            let delivery = try #require(new.first)
            let scheduled = draft(in: hub, dueIn: 60)
            _ = try await other.accept(scheduled)
            _ = try await other.replace(scheduled)
            _ = try await other.control(.pause, own.notification.id, in: hub, at: now)
            _ = try await other.cancel(scheduled.id, in: hub, at: now)
            try await other.createJob(try job("j", in: hub))
            let wanted: [NodeHint] =
                [.deliveries(first: delivery, in: hub, change: 1)] + (2...6).map { .hub(hub, change: $0) }
            #expect(await hints(6, to: owner) == wanted)
            // What comes to nothing is nothing to look at.
            _ = try await other.control(.pause, NotificationID(at: now), in: hub, at: now)
            _ = try await owner.control(.resume, own.notification.id, in: hub, at: now)
            #expect(try await owner.nodes.renew().hubs == [hub: 6])
            #expect(try await owner.unfinished(after: .none, limit: 9).map(\.delivery.id) == [own.id, delivery])
        }
    }

    @Test func changesOfTheDirectoryAreCountedAndToldToOthers() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (one, other) = (nodes[0], nodes[1])
            var version = try await other.nodes.renew().directoryVersion
            func expectChange(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
                #expect(await hints(1, to: other) == [.directory], sourceLocation: sourceLocation)
                let next = try await other.nodes.renew().directoryVersion
                #expect(next > version, sourceLocation: sourceLocation)
                version = next
            }
            let hub = try await hub(of: one)
            try await expectChange()
            let settings = HubSettings(userMetadata: "new")
            #expect(
                try await one.updateHub(hub, settings: settings, replacing: HubSettings(), at: now) == .stored)
            try await expectChange()
            let rule = AccessRule(name: "root", rights: .all, at: now)
            #expect(try await one.setNamespaceRules([rule], replacing: []))
            try await expectChange()
            let entry = Operator(name: "ops", roles: RoleGrants([RoleGrant(.admin)]), createdAt: now)
            let link = OperatorLink(
                tokenHash: [1], kind: .invitation, operatorName: "ops", expiresAt: now + .seconds(60))
            try await one.invite(entry, by: link)
            try await expectChange()
            #expect(try await one.deleteHub(hub))
            try await expectChange()
        }
    }

    @Test func aNodeThatWasCutOffLearnsThatHintsMayBeLost() async throws {
        let cluster = try #require(TestCluster.shared)
        let options = TestDatabase.fresh()
        let address = try DatabaseAddress("\(cluster.address)&application_name=\(options.schema)")
        let node = try await PostgresStorage.open(address, sealer: PlainSealer(), options: options)
        _ = try await node.nodes.renew()
        let connection = try TestDatabase.settings().connect()
        let terminate = Statement.rare(
            [.text], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1")
        try connection.run(
            Batch(terminate) { $0.add(options.schema) }, .until(.now + .seconds(60)))
        #expect(await hints(1, to: node) == [.lost])
        _ = try await node.nodes.renew()
        await node.close()
    }

    private func nodeBehindProxy() async throws -> (PostgresStorage, CuttingProxy) {
        let cluster = try #require(TestCluster.shared)
        let proxy = try CuttingProxy(before: cluster.directory)
        let address = try DatabaseAddress("postgres://postgres@/martlet?host=\(proxy.directory)")
        let node = try await PostgresStorage.open(address, sealer: PlainSealer(), options: TestDatabase.fresh())
        _ = try await node.nodes.renew()
        return (node, proxy)
    }

    @Test func theOwnerLooksForWhatItHasStoredWithoutAnAnswer() async throws {
        let (node, proxy) = try await nodeBehindProxy()
        let hub = try await hub(of: node)
        let first = try await accept(in: hub, by: node)
        proxy.cutNextCommit(andRefuse: true)
        await #expect(throws: Transaction.unknown) { _ = try await node.accept(draft(in: hub)) }
        #expect(node.unknownWrites.count(in: Shard(hub)) == 1)
        proxy.serveAgain()
        #expect(await hints(1, to: node) == [.lost])
        #expect(try await node.unfinished(after: first.id, limit: 9).count == 1)
        await node.close()
    }

    @Test func theOwnerLooksForAJobThatItHasStoredWithoutAnAnswer() async throws {
        let (node, proxy) = try await nodeBehindProxy()
        let hub = try await hub(of: node)
        let job = try job("1", in: hub)
        proxy.cutNextCommit(andRefuse: true)
        await #expect(throws: StorageError.self) { try await node.createJob(job) }
        #expect(node.unknownWrites.count(in: Shard(hub)) == 1)
        proxy.serveAgain()
        #expect(await hints(1, to: node) == [.lost])
        #expect(try await node.unfinishedJobs().map(\.job.id) == ["1"])
        await node.close()
    }

    @Test(arguments: [
        HintText.deliveries(owner: 1, hub: Hub.ID(rawValue: 2), first: Delivery.ID(rawValue: 3), change: 4),
        .hub(owner: 1, Hub.ID(rawValue: 2), change: 3), .directory,
    ])
    func aHintIsReadAsItWasWritten(_ hint: HintText) {
        #expect(HintText(hint.text) == hint)
    }

    @Test(arguments: ["", "d 1 2 3", "h 1 2 x", "n 1", "z 1"])
    func aHintOfAnotherVersionIsLeftAlone(_ text: String) {
        #expect(HintText(text) == nil)
    }

    // MARK: What only the owner does

    @Test func onlyTheOwnerBeginsWhatIsDueAndSeesWhatItControls() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (owner, other) = (nodes[0], nodes[1])
            let hub = try await hub(of: owner)
            try await register(in: hub, by: owner)
            _ = try await owner.accept(draft(in: hub, dueIn: 60))
            let due = now + .seconds(60)
            #expect(try await other.nextDue() == nil)
            #expect(try await other.release(due: due, limit: 9).count == 0)
            #expect(try await owner.nextDue() == due)
            let delivery = try #require(try await owner.release(due: due, limit: 9).deliveries.first)
            var paused = step(delivery)
            paused.pauses = [LanePause(until: due, outcome: OutcomeName(rawValue: "throttled"), reason: "")]
            #expect(try await owner.record(paused))
            _ = try await owner.control(.pause, delivery.notification.id, in: hub, at: now)
            #expect(try await owner.controlled().map(\.hub) == [hub])
            #expect(try await owner.persistedLaneStates(at: now).map(\.lane.hub) == [hub])
            #expect(try await other.controlled().isEmpty)
            #expect(try await other.persistedLaneStates(at: now).isEmpty)
            #expect(try await other.control(.halt, delivery.notification.id, in: hub, at: now) == .ended)
        }
    }

    @Test("What is due in one hub begins and is told of, though the hub before or after it fails", arguments: [0, 1])
    func aHubThatFailsDoesNotKeepAnotherFromBeginning(bad: Int) async throws {
        try await TestDatabase.with { node in
            let hubs = [try await hub("first", of: node), try await hub("second", of: node)]
            for (index, hub) in hubs.enumerated() {
                try await register(in: hub, by: node)
                _ = try await node.accept(draft(in: hub, dueIn: 60 + index))
            }
            try await node.transaction { connection, patience throws(DatabaseFailure) in
                let damage = Statement.rare([.int4], "UPDATE notifications SET expression = '((' WHERE shard = $1")
                _ = try connection.run(Batch(damage) { $0.add(Shard(hubs[bad]).number) }, patience)
            }
            let due = now + .seconds(120)
            let released = try await node.release(due: due, limit: 9)
            #expect(released.count == 1)
            #expect(released.deliveries.map(\.notification.hub) == [hubs[1 - bad]])
            await #expect(throws: StorageError.self) { try await node.release(due: due, limit: 9) }
        }
    }

    private func job(_ id: String, in hub: Hub.ID) throws -> Job {
        Job(
            id: id, hub: hub, kind: .importDelete, outputURL: "https://h/out?sig=1",
            output: try #require(ContainerName("jobs")), directory: try #require(BlobName("loft/\(id)")), input: nil,
            createdAt: now)
    }

    @Test func onlyTheOwnerRunsAJob() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let (owner, other) = (nodes[0], nodes[1])
            let hub = try await hub(of: owner)
            let progress = JobProgress(job: try job("j", in: hub))
            try await other.createJob(progress.job)
            let put = RegistrationChange.put(
                RegistrationDraft(
                    platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"), handleKey: "h", tags: []),
                id: "1", condition: .none)
            #expect(try await other.unfinishedJobs().isEmpty)
            await #expect(throws: PostgresNodes.notOwner) { try await other.record(progress) }
            await #expect(throws: PostgresNodes.notOwner) {
                _ = try await other.apply([put], of: "j", in: hub, after: 0, at: now) { _ in progress }
            }
            #expect(try await other.registration("1", in: hub, at: now) == nil)
            #expect(try await owner.unfinishedJobs().map(\.job.id) == ["j"])
            #expect(try await owner.record(progress))
            #expect(try await owner.apply([put], of: "j", in: hub, after: 0, at: now) { _ in progress } != nil)
        }
    }

    // MARK: Hubs

    @Test func twoNodesThatChangeAHubLoseNoneOfTheChanges() async throws {
        try await TestDatabase.withNodes(2) { nodes in
            let directories = nodes.map {
                HubDirectory(store: $0, platforms: PushPlatformList([]), time: ManualTimeSource(now))
            }
            async let first: Void = directories[0].reload()
            async let second: Void = directories[1].reload()
            _ = try await (first, second)
            #expect(directories[0].namespaceRules == directories[1].namespaceRules, "they begin with one root rule")
            _ = try await directories[0].create("loft")
            try await directories[1].reload()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let directory = directories[number % 2]
                    group.addTask {
                        _ = try await directory.update("loft") { settings throws(HubDirectoryError) in
                            settings.userMetadata = (settings.userMetadata ?? "") + "x"
                        }
                    }
                }
                try await group.waitForAll()
            }
            for directory in directories { try await directory.reload() }
            for directory in directories {
                #expect(directory.hub(named: "loft")?.settings.userMetadata?.count == 20)
            }
        }
    }

    // MARK: Keys

    @Test func aNodeWithAnotherSecretKeyIsRefused() async throws {
        let options = TestDatabase.fresh()
        await (try await TestDatabase.open(options)).close()
        let cluster = try #require(TestCluster.shared)
        await #expect {
            _ = try await PostgresStorage.open(
                try DatabaseAddress(cluster.address), sealer: OtherSealer(), options: options)
        } throws: { "\($0)".contains("another secret key") }
        await (try await TestDatabase.open(options)).close()
    }

    // MARK: Sweeping

    @Test func theDeadAreRemovedADayLaterUnlessAHubIsTheirs() async throws {
        try await TestDatabase.withNodes(3) { nodes in
            _ = try await hub(of: nodes[0])
            for node in nodes[...1] {
                try await set("is_dead = true, until = clock_timestamp() - interval '2 days'", of: node)
            }
            try await nodes[2].sweep(at: now, keeping: Retention())
            let rows = try await nodes[2].read(Batch(.rare([], "SELECT incarnation FROM nodes ORDER BY 1")))[0]
            let left = (0..<rows.count).map { rows[$0].integer(0) }
            #expect(left == [nodes[0].nodes.incarnation, nodes[2].nodes.incarnation])
        }
    }
}

/// Opens nothing that others have sealed.
private struct OtherSealer: Sealer {
    let mark: [UInt8] = [0x01]

    func seal(_ secret: [UInt8], context: String) -> [UInt8] { mark + secret }
    func open(_ sealed: [UInt8], context: String) -> [UInt8]? { sealed.first == 0x01 ? Array(sealed.dropFirst()) : nil }
}
