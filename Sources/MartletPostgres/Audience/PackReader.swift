import MartletCore
import MartletModel

/// Reads members of large audiences from packs, block by block, in one snapshot of the database. It returns exactly what
/// the dense form of `AudienceStatement` returns.
///
/// A registration of a pack is valid unless its channel is marked. The registrations of marked channels are read from
/// the database. At the first block without a pack that can be used, the rest is read with the dense form.
struct PackReader {
    let storage: PostgresStorage
    let maker: PackMaker
    let range: AudienceReader.Range
    let numbers: [Tag: Int64]

    /// The numbers of blocks to read at once: first those that a page of everybody needs, later more.
    private static let (firstStep, stepLimit): (Int64, Int64) = (3, 16)
    /// No channel has a higher number. A range that begins later is not read from packs.
    private static let channelLimit: Int64 = 1 << 48
    /// The maximum number of blocks that one page asks the maker for.
    private static let requestLimit: Int64 = 64

    /// What a page has read so far.
    private struct Progress {
        var rows: MemberRows
        /// The first block that was not read yet.
        var next: Int64
        /// The highest channel that can have members.
        var last: Int64
    }

    /// What was found out about some blocks.
    private struct Found {
        var packs: [(block: PackBlock, pack: Pack)] = []
        /// The marked channels, in ascending order.
        var marked: [Int64] = []
        /// The first block whose pack cannot be used; nil if all can.
        var missing: Int64?
        /// The blocks whose packs should be made.
        var wanted: [PackBlock] = []
    }

    private struct Overview {
        var snapshot: AudienceSnapshot
        var channels: Int64
        var marked: [Int64]

        init(_ row: Row) {
            snapshot = AudienceSnapshot(change: row.integer(0), registration: row.integer(1))
            channels = row.integer(2)
            marked =
                row.isNull(3)
                ? []
                : row.withBytes(3) { bytes in
                    stride(from: 0, to: bytes.count, by: 8).map { bytes.bigEndian(at: $0) }
                }
        }
    }

    /// - Returns: nil if the hub has too few channels for packs.
    func rows() async throws(StorageError) -> MemberRows? {
        guard !maker.knowsAsSmall(range.shard), range.after.channel.rawValue < Self.channelLimit else { return nil }
        let (rows, wanted) = try await storage.withPageReader {
            access, patience throws(DatabaseFailure) -> Result<(MemberRows?, [PackBlock]), StorageError> in
            var wanted: [PackBlock] = []
            let rows: MemberRows?
            do throws(DatabaseFailure) {
                rows = try read(access.connection, patience, &wanted)
            } catch {
                guard !error.isOfConnection else { throw error }
                try access.connection.run(Batch(.rollback), patience)
                return .failure(error.storageError)
            }
            try access.connection.run(Batch(.rollback), patience)
            return .success((rows, wanted))
        }
        if !wanted.isEmpty { maker.request(wanted) }
        return rows
    }

    // MARK: On the thread of a link

    private func read(
        _ connection: Connection, _ patience: Connection.Patience, _ wanted: inout [PackBlock]
    ) throws(DatabaseFailure) -> MemberRows? {
        var progress: Progress?
        var step = Self.firstStep
        while true {
            let first = progress?.next ?? PackBlock.number(of: range.after.channel.rawValue)
            let blocks = first..<(first + step)
            let known = storage.packs.packs(of: blocks, range.shard, range.scope)
            let asking = batch(blocks, known.values.map(\.token), isFirst: progress == nil)
            let answers = try connection.run(asking, patience).suffix(2)
            guard let numbers = answers.first, let packs = answers.last, numbers.count == 1 else {
                return MemberRows(nil)
            }
            let overview = Overview(numbers[0])
            guard overview.channels >= maker.rules.leastChannels else {
                maker.noteSmall(range.shard)
                return nil
            }
            var current =
                progress
                ?? Progress(
                    rows: MemberRows(overview.snapshot), next: first,
                    last: min(range.throughChannel, overview.channels))
            let end = max(first, min(blocks.upperBound, PackBlock.number(of: current.last) + 1))
            let found = find(packs, known, overview.marked, in: first..<end)
            wanted += found.wanted
            try append(found, to: &current, connection, patience)
            if current.rows.count >= range.limit { return current.rows }
            if let missing = found.missing {
                return try appendRest(from: missing, to: current.rows, connection, patience, &wanted)
            }
            current.next = blocks.upperBound
            guard current.next * PackBlock.size <= current.last else { return current.rows }
            progress = current
            step = min(step * 2, Self.stepLimit)
        }
    }

    private func batch(_ blocks: Range<Int64>, _ known: [Int64], isFirst: Bool) -> Batch {
        var batch = Batch()
        if isFirst { batch.add(.beginSnapshot) }
        batch.add(PackStatements.overview) {
            $0.add(range.shard.number)
            $0.add(range.scope.number)
            $0.add(blocks.lowerBound * PackBlock.size)
            $0.add(blocks.upperBound * PackBlock.size)
        }
        batch.add(PackStatements.packs) {
            $0.add(range.shard.number)
            $0.add(range.scope.number)
            $0.add(blocks.lowerBound)
            $0.add(blocks.upperBound)
            $0.add(known)
        }
        return batch
    }

    /// Finds the packs of blocks that can be used, up to the first block without one.
    private func find(
        _ rows: Rows, _ known: [Int64: PackCache.Entry], _ marked: [Int64], in blocks: Range<Int64>
    ) -> Found {
        var found = Found()
        var (row, mark) = (0, 0)
        for number in blocks {
            let block = PackBlock(shard: range.shard, scope: range.scope, number: number)
            while row < rows.count, rows[row].integer(0) < number { row += 1 }
            let start = mark
            while mark < marked.count, marked[mark] < block.end { mark += 1 }
            let isThere = row < rows.count && rows[row].integer(0) == number
            let pack = isThere ? pack(of: block, rows[row], known[number]) : nil
            if pack == nil || mark - start > maker.rules.marksToMake { found.wanted.append(block) }
            guard found.missing == nil else { continue }
            guard let pack, mark - start <= maker.rules.marksToUse else {
                found.missing = number
                continue
            }
            found.packs.append((block, pack))
            found.marked += marked[start..<mark]
        }
        return found
    }

    /// - Parameter row: A row of `PackStatements.packs`.
    private func pack(of block: PackBlock, _ row: Row, _ known: PackCache.Entry?) -> Pack? {
        guard row.bool(2) else { return nil }
        let token = row.integer(1)
        if let known, known.token == token { return known.pack }
        guard let pack = Pack(row.bytes(3), block: block.number) else { return nil }
        storage.packs.insert(pack, of: block, token: token)
        return pack
    }

    /// Appends the members of packs and of the marked channels in them.
    private func append(
        _ found: Found, to progress: inout Progress, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) {
        guard let end = found.packs.last?.block.end else { return }
        let marked = found.marked.filter { $0 >= range.after.channel.rawValue && $0 <= progress.last }
        var changed: MemberRows?
        if !marked.isEmpty {
            let statement = AudienceStatement(range.expression, .listedChannels, withHandles: range.withHandles)
            var part = range
            part.throughChannel = min(progress.last, end - 1)
            part.limit = Int(Int32.max)
            let batch = AudienceReader.batch(statement, part, numbers) { $0.add(marked) }
            changed = MemberRows(try connection.run(batch, patience)[0][0])
        }
        var merging = PackMerging(
            range: range, last: progress.last, marked: marked, changed: changed, rows: progress.rows)
        for (_, pack) in found.packs where merging.rows.count < range.limit {
            merging.append(pack, pack.members(matching: range.expression, numbers))
        }
        merging.appendChanged(before: nil)
        progress.rows = merging.rows
    }

    /// Reads the registrations from a block on with the dense form.
    private func appendRest(
        from block: Int64, to rows: MemberRows, _ connection: Connection, _ patience: Connection.Patience,
        _ wanted: inout [PackBlock]
    ) throws(DatabaseFailure) -> MemberRows {
        var rest = range
        let before = AudienceMember(channel: ChannelID(rawValue: block * PackBlock.size - 1), registration: .max)
        if before > rest.after { rest.after = before }
        rest.limit -= rows.count
        let statement = AudienceStatement(range.expression, .dense, withHandles: range.withHandles)
        let found = MemberRows(try connection.run(AudienceReader.batch(statement, rest, numbers), patience)[0][0])
        var all = rows
        all.reserve(rows.count + found.count)
        for index in 0..<found.count { all.append(found, index) }
        guard found.count > 0 else { return all }
        let end = PackBlock.number(of: found.member(found.count - 1).channel.rawValue)
        for number in block...max(block, min(end, block + Self.requestLimit)) {
            wanted.append(PackBlock(shard: range.shard, scope: range.scope, number: number))
        }
        return all
    }
}

/// Merges registrations of packs with those of the marked channels.
struct PackMerging {
    let range: AudienceReader.Range
    /// The highest channel that can have members.
    let last: Int64
    private(set) var rows: MemberRows
    private let marked: [Int64]
    private let changed: MemberRows?
    private var nextMark = 0
    private var nextChanged = 0

    /// - Parameters:
    ///   - marked: The marked channels, in ascending order.
    ///   - changed: The members of the marked channels.
    ///   - rows: The rows to append to.
    init(range: AudienceReader.Range, last: Int64, marked: [Int64], changed: MemberRows?, rows: MemberRows) {
        (self.range, self.last, self.marked, self.changed, self.rows) = (range, last, marked, changed, rows)
    }

    /// Appends registrations of a pack, and the members of marked channels before them, up to the limit.
    /// - Parameter set: The registrations that match the tag expression, as a bitmap.
    mutating func append(_ pack: Pack, _ set: [UInt64]) {
        let now = range.now.milliseconds
        let start = pack.index(after: range.after.channel.rawValue, range.after.registration)
        for word in (start / 64)..<max(start / 64, set.count) {
            var bits = set[word]
            if word == start / 64 { bits &= .max << UInt64(start % 64) }
            while bits != 0 {
                let index = word * 64 + bits.trailingZeroBitCount
                bits &= bits - 1
                let channel = pack.channel(index)
                guard channel <= last, rows.count < range.limit else { return }
                guard pack.expiresAt(index) > now, pack.sequence(index) <= range.throughRegistration,
                    !isMarked(channel)
                else { continue }
                appendChanged(before: channel)
                guard rows.count < range.limit else { return }
                rows.append(pack, index, withHandle: range.withHandles)
            }
        }
    }

    /// Appends the members of marked channels before a channel, up to the limit; nil for all.
    mutating func appendChanged(before channel: Int64?) {
        guard let changed else { return }
        while nextChanged < changed.count, rows.count < range.limit,
            channel.map({ changed.member(nextChanged).channel.rawValue < $0 }) ?? true
        {
            rows.append(changed, nextChanged)
            nextChanged += 1
        }
    }

    /// Returns true if a channel is marked. Channels are asked for in ascending order.
    private mutating func isMarked(_ channel: Int64) -> Bool {
        while nextMark < marked.count, marked[nextMark] < channel { nextMark += 1 }
        return nextMark < marked.count && marked[nextMark] == channel
    }
}
