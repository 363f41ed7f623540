import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

struct PackTests {
    private static let names = ["a", "b", "c", "d"]

    /// Registrations in the third block, some of a channel with several. Tag 1 is common, tag 4 is rare.
    private func entries(_ count: Int, isPlain: Bool = false, using random: inout SeededGenerator) -> [Pack.Entry] {
        var channel = 3 * PackBlock.size
        return (0..<count).map { index in
            if Int.random(in: 0..<5, using: &random) > 0, index > 0 {
                channel += Int64.random(in: 1...3, using: &random)
            }
            let handle = (0...Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var entry = Pack.Entry(
                channel: channel, sequence: Int64(index) * 7 + 1, handle: handle,
                tags: (1...4).filter { Int.random(in: 0..<Int($0 * $0 * $0), using: &random) == 0 }.map { Int64($0) })
            guard !isPlain else { return entry }
            entry.template = Int64.random(in: 0...2, using: &random)
            entry.variables = Int64.random(in: 0...2, using: &random)
            if index % 3 == 0 { entry.expiresAt = Int64.random(in: 0...1000, using: &random) }
            return entry
        }
    }

    private func decoded(_ entries: [Pack.Entry]) throws -> Pack {
        let bytes = try #require(PackEncoder.bytes(of: entries, block: 3))
        return try #require(Pack(bytes, block: 3))
    }

    @Test(arguments: [0, 1, 2, 63, 64, 65, 1000])
    func whatWasEncodedIsDecoded(_ count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        for isPlain in [true, false] {
            let entries = entries(count, isPlain: isPlain, using: &random)
            let pack = try decoded(entries)
            #expect(pack.count == count)
            for (index, entry) in entries.enumerated() {
                #expect(pack.channel(index) == entry.channel)
                #expect(pack.sequence(index) == entry.sequence)
                #expect(Array(pack.handle(index)) == entry.handle)
                #expect(pack.template(index) == entry.template)
                #expect(pack.variables(index) == entry.variables)
                #expect(pack.expiresAt(index) == entry.expiresAt)
            }
        }
    }

    @Test func aWriteLeavesMarksOnlyWhereTheShardHasPacks() throws {
        for hasPacks in [false, true] {
            var ordinals = Ordinals()
            ordinals.hasPacks = hasPacks
            var set = DeviceSet(shard: Shard(number: 1), ordinals: ordinals)
            let draft = RegistrationDraft(
                platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"), handleKey: "h", tags: [])
            let now = Timestamp(seconds: 1_700_000_000)
            _ = try set.put(PlacedDraft(draft: draft, platform: 1), id: "1", .none, at: now).get()
            let statements = DeviceChanges(set).batch.calls.map(\.statement.sql)
            #expect(statements.contains(PackStatements.mark.sql) == hasPacks)
        }
    }

    @Test func anExpressionHoldsForTheRegistrationsWithItsTags() throws {
        var random = SeededGenerator(seed: 4)
        let numbers = try Dictionary(uniqueKeysWithValues: Self.names.enumerated().map { (try Tag($1), Int64($0 + 1)) })
        for count in [0, 1, 64, 333, 1000] {
            let entries = entries(count, using: &random)
            let pack = try decoded(entries)
            for _ in 0..<50 {
                let expression = try expression(3, using: &random)
                let expected = entries.indices.filter { index in
                    expression.matches(Set(numbers.filter { entries[index].tags.contains($0.value) }.keys))
                }
                #expect(indices(pack.members(matching: expression, numbers)) == expected, "\(expression)")
            }
            #expect(indices(pack.members(matching: nil, numbers)) == Array(entries.indices))
            #expect(indices(pack.members(matching: .tag(try Tag("new")), numbers)) == [])
        }
    }

    private func indices(_ set: [UInt64]) -> [Int] {
        (0..<(set.count * 64)).filter { set[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
    }

    private func expression(_ depth: Int, using random: inout SeededGenerator) throws -> TagExpression {
        switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &random) {
        case 1: return .not(try expression(depth - 1, using: &random))
        case 2: return .and([try expression(depth - 1, using: &random), try expression(depth - 1, using: &random)])
        case 3: return .or([try expression(depth - 1, using: &random), try expression(depth - 1, using: &random)])
        default: return .tag(try Tag(Self.names.randomElement(using: &random) ?? "a"))
        }
    }

    @Test func theFirstRegistrationAfterAMemberIsFound() throws {
        var random = SeededGenerator(seed: 5)
        let entries = entries(200, using: &random)
        let pack = try decoded(entries)
        for entry in entries {
            for (channel, sequence) in [(entry.channel, entry.sequence), (entry.channel, .max), (entry.channel, 0)] {
                let expected = entries.firstIndex { ($0.channel, $0.sequence) > (channel, sequence) } ?? 200
                #expect(pack.index(after: channel, sequence) == expected)
            }
        }
        #expect(pack.index(after: 0, 0) == 0)
    }

    @Test func bytesOfAnotherLengthOrVersionAreRefused() throws {
        var random = SeededGenerator(seed: 6)
        let bytes = try #require(PackEncoder.bytes(of: entries(70, using: &random), block: 3))
        for length in 0..<bytes.count { #expect(Pack(Array(bytes.prefix(length)), block: 3) == nil) }
        #expect(Pack(bytes + [0], block: 3) == nil)
        #expect(Pack([Pack.version + 1] + bytes.dropFirst(), block: 3) == nil)
    }

    @Test func noChangeOfBytesLeadsOutOfThem() throws {
        var random = SeededGenerator(seed: 7)
        let bytes = try #require(PackEncoder.bytes(of: entries(70, using: &random), block: 3))
        let numbers = [try Tag("a"): Int64(1), try Tag("d"): 4]
        for _ in 0..<3000 {
            var changed = bytes
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let pack = Pack(changed, block: 3) else { continue }
            for index in 0..<pack.count {
                _ = (pack.channel(index), pack.sequence(index), pack.template(index), pack.variables(index))
                #expect(!pack.handle(index).isEmpty)
            }
            for tag in numbers.keys {
                #expect(indices(pack.members(matching: .not(.tag(tag)), numbers)).allSatisfy { $0 < pack.count })
            }
        }
    }

    @Test func aBlockThatIsTooLargeHasNoPack() {
        let many = (0...Pack.countLimit).map { Pack.Entry(channel: 0, sequence: Int64($0), handle: [0], tags: []) }
        #expect(PackEncoder.bytes(of: many, block: 0) == nil)
        let large = Pack.Entry(channel: 0, sequence: 1, handle: [UInt8](repeating: 0, count: Pack.sizeLimit), tags: [])
        #expect(PackEncoder.bytes(of: [large], block: 0) == nil)
    }

    @Test func theCacheForgetsWhatWasReadLongestAgo() throws {
        var random = SeededGenerator(seed: 8)
        let pack = try decoded(entries(100, using: &random))
        let cache = PackCache(limit: 2 * PackCache.size(of: pack))
        let (shard, scope) = (Shard(number: 1), Scope(number: 2))
        func insert(_ number: Int64, token: Int64) {
            cache.insert(pack, of: PackBlock(shard: shard, scope: scope, number: number), token: token)
        }
        func tokens(_ blocks: Range<Int64>) -> Set<Int64> {
            Set(cache.packs(of: blocks, shard, scope).values.map(\.token))
        }
        insert(1, token: 11)
        insert(2, token: 12)
        #expect(tokens(1..<2) == [11])
        insert(3, token: 13)
        #expect(tokens(0..<9) == [11, 13])
        insert(3, token: 14)
        #expect(tokens(0..<9) == [11, 14])
        #expect(cache.packs(of: 0..<9, shard, Scope(number: 3)).isEmpty)
    }
}
