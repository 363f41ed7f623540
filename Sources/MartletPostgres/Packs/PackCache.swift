import Synchronization

/// The packs that this process has read last. A pack is identified by its token, which changes whenever the pack is made
/// anew, so a pack in the cache is never out of date: the page's own statement says which token is valid.
final class PackCache: Sendable {
    struct Entry {
        let token: Int64
        let pack: Pack
        fileprivate var use: UInt64
    }

    private struct State {
        var entries: [PackBlock: Entry] = [:]
        var uses: UInt64 = 0
        var size = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: The maximum size of all packs together, in bytes.
    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// What a pack counts for. Even a small one counts for some kilobytes, so that the packs are few.
    static func size(of pack: Pack) -> Int { pack.size + 4096 }

    /// The packs of some blocks, by the numbers of the blocks.
    func packs(of blocks: Range<Int64>, _ shard: Shard, _ scope: Scope) -> [Int64: Entry] {
        state.withLock { state in
            var found: [Int64: Entry] = [:]
            for number in blocks {
                let block = PackBlock(shard: shard, scope: scope, number: number)
                guard let entry = state.entries[block] else { continue }
                state.uses += 1
                state.entries[block]?.use = state.uses
                found[number] = entry
            }
            return found
        }
    }

    func insert(_ pack: Pack, of block: PackBlock, token: Int64) {
        state.withLock { state in
            state.uses += 1
            state.size += Self.size(of: pack) - (state.entries[block].map { Self.size(of: $0.pack) } ?? 0)
            state.entries[block] = Entry(token: token, pack: pack, use: state.uses)
            while state.size > limit, let oldest = state.entries.min(by: { $0.value.use < $1.value.use }) {
                state.size -= Self.size(of: oldest.value.pack)
                state.entries[oldest.key] = nil
            }
        }
    }
}
