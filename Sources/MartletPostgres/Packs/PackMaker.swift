import MartletCore
import Synchronization

/// Makes packs in the background, one after another, for the blocks that pages have asked for.
///
/// A pack is made in two steps. The first, under the lock of the shard's `ordinals`, removes the marks of the block and
/// announces the pack with a new token and no content. Every transaction that changes registrations locks the same row
/// before it writes, and holds it until its end. So each of them either has ended before, or marks what it changes. The
/// second step reads the registrations and stores them, without a lock: what changes meanwhile is marked. If the process
/// ends in between, the pack stays without content, and pages are read without it until it is made anew.
///
/// The row also says whether the shard has packs (`Ordinals.hasPacks`). Where it has none, changes are not marked: a
/// transaction that has read so, and finds otherwise when it locks the row, is done again.
final class PackMaker: Sendable {
    /// When packs are made.
    struct Rules: Sendable {
        /// Hubs that have made fewer channels than this have no packs.
        var leastChannels: Int64 = 10_000
        /// A pack with more marked channels than this is made anew when a page uses it.
        var marksToMake = Int(PackBlock.size / 16)
        /// A pack with more marked channels than this is not used.
        var marksToUse = Int(PackBlock.size / 4)
        /// The time between two attempts of this process to make the pack of a block.
        var interval = Duration.seconds(60)
        /// Whether the maker rests for as long as the last pack took, so that it takes half of a connection at most.
        var rests = true
    }

    let rules: Rules
    private let link: Link
    private let patience: Duration
    private let state = Mutex(State())

    private struct State {
        var waiting: [PackBlock] = []
        /// When blocks were last asked for, including those that wait.
        var asked: [PackBlock: ContinuousClock.Instant] = [:]
        /// The hubs that had too few channels for packs, and when to look again.
        var small: [Shard: ContinuousClock.Instant] = [:]
        var task: Task<Void, Never>?
        var isStopped = false
    }

    private static let waitingLimit = 10_000
    private static let memoryLimit = 100_000

    /// - Parameter link: A connection for page reads. A pack takes it for some milliseconds.
    init(_ link: Link, _ rules: Rules, patience: Duration) {
        (self.link, self.rules, self.patience) = (link, rules, patience)
    }

    // MARK: Small hubs

    /// Returns true if a hub had too few channels for packs within the last minute.
    func knowsAsSmall(_ shard: Shard) -> Bool {
        state.withLock { state in state.small[shard].map { $0 > .now } ?? false }
    }

    func noteSmall(_ shard: Shard) {
        state.withLock { state in
            if state.small.count >= Self.memoryLimit { state.small = [:] }
            state.small[shard] = .now + rules.interval
        }
    }

    // MARK: Requests

    /// Asks for the packs of blocks. Blocks that were asked for recently are left out.
    func request(_ blocks: [PackBlock]) {
        state.withLock { state in
            guard !state.isStopped else { return }
            let now = ContinuousClock.now
            if state.asked.count >= Self.memoryLimit { state.asked = state.asked.filter { $0.value > now } }
            for block in blocks where state.waiting.count < Self.waitingLimit {
                if let until = state.asked[block], until > now { continue }
                state.asked[block] = now + rules.interval
                state.waiting.append(block)
            }
            guard !state.waiting.isEmpty, state.task == nil else { return }
            state.task = Task { [weak self] in await self?.work() }
        }
    }

    /// Returns when no pack is being made and none is waiting.
    func finish() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }

    /// Makes no more packs. Returns when the last one is made.
    func stop() async {
        let task = state.withLock { state in
            (state.isStopped, state.waiting) = (true, [])
            return state.task
        }
        await task?.value
    }

    private func work() async {
        while let block = next() {
            let begun = ContinuousClock.now
            do throws(DatabaseFailure) {
                try await make(block)
            } catch {
                // Pages are read without this pack. If the connection does not work, the others would fail as well.
                if error.isOfConnection { state.withLock { $0.waiting = [] } }
            }
            if rules.rests { try? await Task.sleep(for: .now - begun) }
        }
    }

    private func next() -> PackBlock? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.task = nil
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    // MARK: Making

    /// Makes the pack of a block.
    func make(_ block: PackBlock) async throws(DatabaseFailure) {
        let token = Int64.random(in: 1 ... .max)
        try await announce(block, token)
        try await fill(block, token)
    }

    /// The first step: removes the marks of a block and announces its pack.
    func announce(_ block: PackBlock, _ token: Int64) async throws(DatabaseFailure) {
        try await commit(Self.announcement(of: block, token))
    }

    /// The statements of the first step, without the COMMIT.
    static func announcement(of block: PackBlock, _ token: Int64) -> Batch {
        var batch = Batch(.begin)
        // Nodes of an earlier version cannot start any more, so none can come between this and the lock.
        batch.add(PackStatements.refuseOlderNodes) { $0.add(Int32(Migration.all.count)) }
        batch.add(Ordinals.locking) { $0.add(block.shard.number) }
        batch.add(PackStatements.removeMarks) { addChannels(of: block, to: &$0) }
        batch.add(PackStatements.announce) {
            addNumber(of: block, to: &$0)
            $0.add(token)
        }
        batch.add(PackStatements.noteSome) { $0.add(block.shard.number) }
        return batch
    }

    /// The second step: reads the registrations of a block, and stores its pack.
    func fill(_ block: PackBlock, _ token: Int64) async throws(DatabaseFailure) {
        let reading = Batch(PackStatements.entries) {
            Self.addChannels(of: block, to: &$0)
            $0.add(Int64(Pack.countLimit) + 1)
        }
        let rows = try await link.read(reading)[0]
        let entries = (0..<rows.count).map { Pack.Entry(rows[$0]) }
        guard let bytes = PackEncoder.bytes(of: entries, block: block.number) else { return try await remove(block) }
        try await perform { connection, patience throws(DatabaseFailure) in
            let storing = Batch(PackStatements.store) {
                Self.addNumber(of: block, to: &$0)
                $0.add(token)
                $0.add(bytes)
            }
            _ = try connection.run(storing, patience)
        }
    }

    /// Removes the pack of a block with its marks, so that changes of the block are not marked any more.
    func remove(_ block: PackBlock) async throws(DatabaseFailure) {
        var batch = Batch(.begin)
        batch.add(Ordinals.locking) { $0.add(block.shard.number) }
        batch.add(PackStatements.remove) { Self.addNumber(of: block, to: &$0) }
        batch.add(PackStatements.removeMarks) { Self.addChannels(of: block, to: &$0) }
        batch.add(PackStatements.noteNone) { $0.add(block.shard.number) }
        try await commit(batch)
    }

    private func commit(_ batch: Batch) async throws(DatabaseFailure) {
        var batch = batch
        batch.add(.commit)
        let whole = batch
        try await perform { connection, patience throws(DatabaseFailure) in
            do throws(DatabaseFailure) {
                try connection.run(whole, patience)
            } catch {
                if !error.isOfConnection { _ = try connection.run([Batch(.rollback)], patience) }
                throw error
            }
        }
    }

    private func perform(
        _ work: @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) -> Void
    ) async throws(DatabaseFailure) {
        try await link.perform { [patience] access throws(DatabaseFailure) in
            do throws(DatabaseFailure) {
                try work(access.connection, .until(.now + patience))
            } catch {
                if error.isOfConnection { access.drop() }
                throw error
            }
        }
    }

    private static func addNumber(of block: PackBlock, to parameters: inout Parameters) {
        parameters.add(block.shard.number)
        parameters.add(block.scope.number)
        parameters.add(block.number)
    }

    private static func addChannels(of block: PackBlock, to parameters: inout Parameters) {
        parameters.add(block.shard.number)
        parameters.add(block.scope.number)
        parameters.add(block.first)
        parameters.add(block.end)
    }
}

extension Pack.Entry {
    /// - Parameter row: A row of `PackStatements.entries`.
    init(_ row: Row) {
        self.init(
            channel: row.integer(0), sequence: row.integer(1), handle: row.bytes(2), tags: row.integers(3),
            template: row.integer(4), variables: row.integer(5), expiresAt: row.integer(6))
    }
}
