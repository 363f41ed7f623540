import Glibc
import MartletCore
import MartletModel
import Synchronization
import Testing

@testable import MartletPostgres
@testable import MartletTesting

/// Pages that are read from packs, compared with those that are read from the registrations.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"), .timeLimit(.minutes(10)))
struct PackPageTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func pagesFromPacksAreThoseFromTheRegistrations() async throws {
        try await withWorld(seed: 1) { world in
            var random = SeededGenerator(seed: 2)
            try await world.makeAll()
            for round in 0..<4 {
                for _ in 0..<6 { try await world.compare(using: &random) }
                // In the second round, some channels of all blocks are marked, and later some packs are missing.
                if round > 0 { try await world.makeSome(using: &random) }
                try await world.change(60, using: &random)
            }
            #expect(world.usesPacks)
        }
    }

    @Test func aPageIsReadFromThePack() async throws {
        try await withWorld(seed: 3) { world in
            try await world.makeAll()
            let before = try await world.page(world.packed)
            // No program changes a registration like this: without a mark.
            try await world.run("UPDATE registrations SET handle = '\\x0141'")
            #expect(try await world.page(world.packed) == before)
            #expect(try await world.page(world.plain) != before)
        }
    }

    @Test func aChangeInTheMiddleOfMakingAPackIsInThePage() async throws {
        try await withWorld(seed: 4) { world in
            var random = SeededGenerator(seed: 5)
            try await world.makeAll()
            for block in world.blocks {
                // The process may end between the steps. Then the pack has no content.
                try await world.maker.announce(block, 7)
                try await world.change(10, using: &random)
                try await world.compare(using: &random)
            }
            for block in world.blocks {
                try await world.maker.announce(block, 8)
                try await world.change(10, using: &random)
                // A step of a maker that was overtaken by another stores nothing.
                try await world.maker.fill(block, 7)
                try await world.compare(using: &random)
                try await world.maker.fill(block, 8)
                try await world.change(10, using: &random)
                try await world.compare(using: &random)
            }
        }
    }

    /// A write that began before the pack was announced, and commits after that, would leave a mark that the
    /// announcement has removed, or none.
    @Test func aPackIsNotAnnouncedBesideAWrite() async throws {
        try await withWorld(seed: 6) { world in
            try await world.makeAll()
            let block = try #require(world.blocks.first)
            let patience = Connection.Patience.until(.now + .seconds(60))
            let writer = try TestDatabase.settings(world.options).connect()
            var batch = Batch(.begin)
            batch.add(Ordinals.locking) { $0.add(block.shard.number) }
            try writer.run(batch, patience)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await world.maker.announce(block, 7)
                    world.isOver.store(true, ordering: .sequentiallyConsistent)
                }
                while try await world.waitingLocks() == 0 { try await Task.sleep(for: .milliseconds(5)) }
                let isEarly = world.isOver.load(ordering: .sequentiallyConsistent)
                #expect(!isEarly)
                try writer.run(Batch(.commit), patience)
                try await group.waitForAll()
            }
            let isLate = world.isOver.load(ordering: .sequentiallyConsistent)
            #expect(isLate)
        }
    }

    /// A write that has read that there are no packs leaves no marks, so it must not stand beside the first pack.
    @Test func theFirstPackMayComeBetweenTheReadsAndTheWritesOfAWrite() async throws {
        try await withWorld(seed: 20) { world in
            let block = try #require(world.blocks.first)
            let handle = try #require(try await world.page(world.plain).handles.first)
            let id = String(handle.dropFirst())
            // The registration leaves its channel, which is in the block.
            let draft = try StorageBench(world.packed).draft("other", ["new"])
            let change = RegistrationChange.put(draft, id: id, condition: .none)
            let platforms = try await world.packed.numbers(of: [change])
            var needs = DeviceNeeds()
            needs.add(change, platforms, [], in: block.shard)
            try await withThrowingTaskGroup(of: Void.self) { [needs] group in
                group.addTask {
                    _ = try await world.packed.write(to: block.shard, needs) { set throws(StorageError) in
                        let isFirst = world.reads.withLock { reads in
                            reads.append(set.ordinals.hasPacks)
                            return reads.count == 1
                        }
                        // The thread is the connection's own.
                        while isFirst, !world.isOver.load(ordering: .sequentiallyConsistent) { usleep(1000) }
                        return set.apply(change, platforms, at: now)
                    }
                }
                while world.reads.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
                do {
                    defer { world.isOver.store(true, ordering: .sequentiallyConsistent) }
                    try await world.maker.make(block)
                }
                try await group.waitForAll()
            }
            #expect(world.reads.withLock { $0 } == [false, true])
            #expect(world.packed.devices.staleReads == 1)
            #expect(try await world.count("changed_channels") == 1)
            let page = try await world.page(world.packed)
            #expect(world.usesPacks)
            #expect(!page.handles.contains(handle) && page.handles.contains("other"))
            #expect(try await world.page(world.plain) == page)
        }
    }

    @Test func theShardSaysWhetherItHasPacks() async throws {
        try await withWorld(seed: 21) { world in
            let shards = "ordinals WHERE has_packs"
            let (first, second) = (world.blocks[0], world.blocks[1])
            #expect(try await world.count(shards) == 0)
            for block in [first, second] { try await world.maker.make(block) }
            try await world.maker.remove(first)
            #expect(try await world.count(shards) == 1)
            try await world.maker.remove(second)
            #expect(try await world.count(shards) == 0)
            var random = SeededGenerator(seed: 23)
            try await world.change(20, using: &random)
            #expect(try await world.count("changed_channels") == 0)
            try await world.maker.announce(first, 7)
            #expect(try await world.count(shards) == 1)
        }
    }

    @Test func theRemovalOfAPackSeesOneThatIsBeingAnnounced() async throws {
        try await withWorld(seed: 22) { world in
            let (first, second) = (world.blocks[0], world.blocks[1])
            try await world.maker.make(first)
            let patience = Connection.Patience.until(.now + .seconds(60))
            let announcer = try TestDatabase.settings(world.options).connect()
            try announcer.run(PackMaker.announcement(of: second, 7), patience)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await world.maker.remove(first) }
                while try await world.waitingLocks() == 0 { try await Task.sleep(for: .milliseconds(5)) }
                try announcer.run(Batch(.commit), patience)
                try await group.waitForAll()
            }
            #expect(try await world.count("packs") == 1)
            #expect(try await world.count("ordinals WHERE has_packs") == 1)
        }
    }

    @Test func noPageHasADeviceThatWasRemovedBefore() async throws {
        try await withWorld(seed: 8) { world in
            try await world.makeAll()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, storage) in [world.packed, world.plain].enumerated() {
                    group.addTask {
                        let bench = StorageBench(storage)
                        for id in stride(from: number, to: World.count, by: 5) {
                            let refusal = try await bench.refusalOfDelete("\(id)", in: world.hub)
                            guard refusal == nil else { continue }
                            _ = world.removed.withLock { $0.insert("h\(id)") }
                        }
                        world.isOver.store(true, ordering: .sequentiallyConsistent)
                    }
                }
                group.addTask {
                    var random = SeededGenerator(seed: 9)
                    while !world.isOver.load(ordering: .sequentiallyConsistent) {
                        try await world.makeSome(using: &random)
                    }
                }
                group.addTask {
                    while !world.isOver.load(ordering: .sequentiallyConsistent) {
                        let gone = world.removed.withLock { $0 }
                        let page = try await world.page(world.packed)
                        #expect(gone.isDisjoint(with: page.handles))
                    }
                }
                try await group.waitForAll()
            }
            var random = SeededGenerator(seed: 10)
            for _ in 0..<3 { try await world.compare(using: &random) }
            #expect(world.removed.withLock { $0.count } > 100)
        }
    }

    @Test func aPackThatCannotBeReadIsNotUsed() async throws {
        try await withWorld(seed: 11) { world in
            try await world.makeAll()
            try await world.run("UPDATE packs SET content = '\\x0900', token = token + 1")
            var random = SeededGenerator(seed: 12)
            for _ in 0..<3 { try await world.compare(using: &random) }
            #expect(!world.usesPacks)
        }
    }

    @Test func aPageAsksForThePacksThatItLacks() async throws {
        try await withWorld(seed: 13, isStopped: false) { world in
            _ = try await world.page(world.packed)
            await world.maker.finish()
            let count = try await world.count("packs WHERE content IS NOT NULL")
            #expect(count > 0)
            _ = try await world.page(world.packed)
            #expect(world.usesPacks)
        }
    }

    @Test func aSmallHubHasNoPacks() async throws {
        try await TestDatabase.with { storage in
            let bench = StorageBench(storage)
            let hub = try await bench.hub()
            for number in 0..<5 { try await bench.put("\(number)", "h\(number)", in: hub) }
            #expect(try await bench.audience(hub).handles.count == 5)
            await storage.packMaker?.finish()
            #expect(try await storage.read(Batch(.rare([], "SELECT count(*) FROM packs")))[0][0].integer(0) == 0)
        }
    }

    @Test func noPackIsMadeBesideANodeThatLeavesNoMarks() async throws {
        try await withWorld(seed: 14) { world in
            try await world.run("UPDATE nodes SET schema = schema - 1")
            let block = try #require(world.blocks.first)
            await #expect(throws: DatabaseFailure.self) { try await world.maker.make(block) }
            #expect(try await world.count("packs") == 0)
        }
    }

    @Test func packsOfWhichMuchHasChangedAreSwept() async throws {
        try await withWorld(seed: 15, marksToUse: 20) { world in
            try await world.makeAll()
            let packs = try await world.count("packs")
            let bench = StorageBench(world.packed)
            for number in 0..<60 { _ = try await bench.refusalOfDelete("\(number)", in: world.hub) }
            #expect(try await world.count("changed_channels") > 20)
            try await world.packed.sweep(at: now)
            #expect(try await world.count("packs") < packs)
            #expect(try await world.count("changed_channels") <= 20)
            var random = SeededGenerator(seed: 16)
            for _ in 0..<3 { try await world.compare(using: &random) }
        }
    }

    @Test func repeatedWritesLeaveNoMarks() async throws {
        try await withWorld(seed: 17) { world in
            try await world.makeAll()
            let bench = StorageBench(world.packed)
            try await bench.put("new", "new", ["a"], in: world.hub)
            let marks = try await world.count("changed_channels")
            for _ in 0..<3 { try await bench.put("new", "new", ["a"], in: world.hub, at: now + .seconds(60)) }
            #expect(try await world.count("changed_channels") == marks)
        }
    }

    @Test func aHubThatIsDeletedLeavesNoPacks() async throws {
        try await withWorld(seed: 18) { world in
            try await world.makeAll()
            #expect(try await world.packed.deleteHub(world.hub))
            try await world.maker.make(try #require(world.blocks.first))
            #expect(try await world.count("packs") == 0)
            #expect(try await world.count("changed_channels") == 0)
            #expect(try await world.page(world.packed).handles.isEmpty)
        }
    }

    private func withWorld(
        seed: UInt64, isStopped: Bool = true, marksToUse: Int = 100, _ body: (World) async throws -> Void
    ) async throws {
        var options = TestDatabase.fresh()
        options.packs.leastChannels = 0
        (options.packs.marksToUse, options.packs.rests) = (marksToUse, false)
        var plain = options
        plain.packs.leastChannels = .max
        let storages = (try await TestDatabase.open(options), try await TestDatabase.open(plain))
        let result: Result<Void, any Error>
        do {
            let world = try await World(storages.0, storages.1, options, seed: seed)
            // Packs are made when the test says so.
            if isStopped { await world.maker.stop() }
            result = .success(try await body(world))
        } catch {
            result = .failure(error)
        }
        await storages.0.close()
        await storages.1.close()
        try result.get()
    }
}

/// A hub with registrations in five blocks, read by one storage from packs, and by another without.
private final class World: Sendable {
    static let count = 600
    private static let names = ["a", "b", "c", "d"]
    private static let now = Timestamp(seconds: 1_700_000_000)

    let packed: PostgresStorage
    let plain: PostgresStorage
    let options: PostgresStorage.Options
    let maker: PackMaker
    let hub: Hub.ID
    private let platform: Int32
    private let nextID = Mutex(World.count)
    /// The handles of the devices that were removed with success.
    let removed = Mutex<Set<String>>([])
    /// What each attempt of a write has read about packs.
    let reads = Mutex<[Bool]>([])
    /// Whether what a test does beside others is done.
    let isOver = Atomic(false)

    init(
        _ packed: PostgresStorage, _ plain: PostgresStorage, _ options: PostgresStorage.Options, seed: UInt64
    ) async throws {
        (self.packed, self.plain, self.options) = (packed, plain, options)
        maker = try #require(packed.packMaker)
        let bench = StorageBench(packed)
        hub = try await bench.hub()
        var random = SeededGenerator(seed: seed)
        for start in stride(from: 0, to: Self.count, by: Self.count / 5) {
            var changes: [RegistrationChange] = []
            for number in start..<(start + Self.count / 5) {
                changes.append(try Self.put("\(number)", "h\(number)", bench, using: &random))
            }
            _ = try await packed.apply(changes, in: hub, at: Self.now)
            // The next channels are in another block.
            let shift = Batch(.rare([.int8], "UPDATE ordinals SET channels = channels + $1")) {
                $0.add(PackBlock.size * 9 / 10)
            }
            try await packed.transaction { connection, patience throws(DatabaseFailure) in
                _ = try connection.run(shift, patience)
            }
        }
        platform = try #require(try await packed.number(of: bench.platform))
    }

    private static func put(
        _ id: String, _ handle: String, _ bench: StorageBench, using random: inout SeededGenerator
    ) throws -> RegistrationChange {
        let body = Int.random(in: 0..<6, using: &random)
        let tags = names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        let expiry = Int.random(in: 0..<6, using: &random)
        let draft = try bench.draft(
            handle, tags, template: body < 2 ? Template(body: "body \(body)") : nil,
            variables: body == 0 ? ["name": "value \(Int.random(in: 0..<3, using: &random))"] : [:],
            expiresAt: expiry == 0 ? now + .seconds(30) : nil,
            takesHandle: Int.random(in: 0..<8, using: &random) == 0)
        return .put(draft, id: id, condition: .none)
    }

    var blocks: [PackBlock] {
        [AudienceQuery.Kind.native, .template].flatMap { kind in
            (Int64(0)..<5).map {
                PackBlock(shard: Shard(hub), scope: Scope(platform: platform, kind), number: $0)
            }
        }
    }

    /// Whether the packed storage has read packs.
    var usesPacks: Bool {
        blocks.contains { !packed.packs.packs(of: $0.number..<($0.number + 1), $0.shard, $0.scope).isEmpty }
    }

    func makeAll() async throws {
        for block in blocks { try await maker.make(block) }
    }

    func makeSome(using random: inout SeededGenerator) async throws {
        for block in blocks where Int.random(in: 0..<3, using: &random) == 0 { try await maker.make(block) }
    }

    /// Makes random changes, some by each storage.
    func change(_ count: Int, using random: inout SeededGenerator) async throws {
        for _ in 0..<count {
            let storage = Bool.random(using: &random) ? packed : plain
            let bench = StorageBench(storage)
            let id = "\(Int.random(in: 0..<Self.count, using: &random))"
            let handle = "h\(Int.random(in: 0..<Self.count, using: &random))"
            switch Int.random(in: 0..<7, using: &random) {
            case 0: _ = try await bench.refusalOfDelete(id, in: hub)
            case 1:
                let new = nextID.withLock { next in
                    next += 1
                    return next
                }
                _ = try await storage.apply(
                    Self.put("n\(new)", "h\(new)", bench, using: &random), in: hub, at: Self.now)
            case 2:
                // Another spelling of a handle is written to all registrations of its channel.
                _ = try await storage.apply(
                    Self.put(id, handle.uppercased(), bench, using: &random), in: hub, at: Self.now)
            case 3: try await feedBack(.gone(asOf: nil), storage, using: &random)
            case 4: try await feedBack(.moved(PushHandle(handle), key: handle), storage, using: &random)
            default: _ = try await storage.apply(Self.put(id, handle, bench, using: &random), in: hub, at: Self.now)
            }
        }
    }

    private func feedBack(
        _ kind: ChannelFeedback.Kind, _ storage: PostgresStorage, using random: inout SeededGenerator
    ) async throws {
        let members = try await page(plain).members
        guard let channel = members.randomElement(using: &random)?.channel else { return }
        _ = try await storage.apply([ChannelFeedback(channel: channel, kind: kind)], in: hub, at: Self.now)
    }

    // MARK: Pages

    /// What a page says.
    struct Image: Equatable {
        var members: [AudienceMember] = []
        var handles: [String] = []
        var renderings: [TemplateBinding.ID] = []
        var skipped = 0
        var isLast = true
        var stoppedAt: AudienceMember?
        var snapshot = AudienceSnapshot.none

        init(_ page: AudiencePage) {
            members = page.members
            handles = (0..<page.count).map { page.handle($0).text }
            renderings = page.bindingIndices.map { page.renderings[Int($0)].id }
            (skipped, isLast, stoppedAt, snapshot) = (page.skipped, page.isLast, page.stoppedAt, page.snapshot)
        }
    }

    /// Reads a page of everybody.
    func page(_ storage: PostgresStorage) async throws -> Image {
        Image(try await storage.audience(query(nil, .native)))
    }

    private func query(_ expression: TagExpression?, _ kind: AudienceQuery.Kind) -> AudienceQuery {
        AudienceQuery(
            hub: hub, platform: PlatformID(rawValue: "pigeon"), kind: kind, expression: expression,
            throughChannel: ChannelID(rawValue: .max), limit: 10_000, now: Self.now)
    }

    /// Compares all pages of a random audience, as both storages read them.
    func compare(using random: inout SeededGenerator) async throws {
        let expression = Int.random(in: 0..<4, using: &random) == 0 ? nil : try expression(3, using: &random)
        for kind in [AudienceQuery.Kind.native, .template] {
            var query = query(expression, kind)
            query.limit = [7, 100, 10_000].randomElement(using: &random) ?? 100
            query.now = Self.now + .seconds(Bool.random(using: &random) ? 0 : 60)
            if Int.random(in: 0..<3, using: &random) == 0 {
                query.throughChannel = ChannelID(rawValue: Int64.random(in: 1..<20_000, using: &random))
                query.throughRegistration = Int64.random(in: 1...700, using: &random)
            }
            try await treatAsDense(expression, kind)
            var (pages, isLast) = (0, false)
            while !isLast, pages < 20 {
                let image = Image(try await packed.audience(query))
                #expect(image == Image(try await plain.audience(query)), "\(String(describing: expression)) \(kind)")
                query.after = image.stoppedAt ?? image.members.last ?? .end
                (pages, isLast) = (pages + 1, image.isLast)
            }
        }
    }

    /// Makes both storages read an audience with the dense form, as if its tags had many members.
    private func treatAsDense(_ expression: TagExpression?, _ kind: AudienceQuery.Kind) async throws {
        guard let (_, tags) = AudienceAnchor.tags(of: expression) else { return }
        let keys = tags.map {
            TagKey(scope: Scope(platform: platform, kind), shard: Shard(hub), name: $0.folded)
        }
        for storage in [packed, plain] {
            let numbers = try await storage.numbers(of: Set(keys), in: Shard(hub))
            storage.dense.insert(Array(Set(keys.map { numbers[$0] ?? 0 })))
        }
    }

    private func expression(_ depth: Int, using random: inout SeededGenerator) throws -> TagExpression {
        switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &random) {
        case 1: return .not(try expression(depth - 1, using: &random))
        case 2: return .and([try expression(depth - 1, using: &random), try expression(depth - 1, using: &random)])
        case 3: return .or([try expression(depth - 1, using: &random), try expression(depth - 1, using: &random)])
        default: return .tag(try Tag(Self.names.randomElement(using: &random) ?? "a"))
        }
    }

    // MARK: Rows

    func run(_ sql: String) async throws {
        try await packed.transaction { connection, patience throws(DatabaseFailure) in
            _ = try connection.run(Batch(.rare([], sql)), patience)
        }
    }

    func count(_ rows: String) async throws -> Int64 {
        try await packed.read(Batch(.rare([], "SELECT count(*) FROM \(rows)")))[0][0].integer(0)
    }

    /// The number of sessions at this database's `ordinals` that wait for a lock.
    func waitingLocks() async throws -> Int64 {
        try await packed.read(
            Batch(
                .rare(
                    [],
                    """
                    SELECT count(*) FROM pg_locks l WHERE NOT l.granted AND EXISTS (SELECT 1 FROM pg_locks h
                        WHERE h.pid = l.pid AND h.relation = 'ordinals'::regclass)
                    """)))[0][0].integer(0)
    }
}
