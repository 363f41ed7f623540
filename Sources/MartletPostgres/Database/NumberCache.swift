import MartletCore
import MartletModel
import Synchronization

/// Caches the numbers that stand for platforms and tags in rows. Numbers are cached only after their commit. A
/// committed number is never given to another platform or tag, so the cache is never wrong.
final class NumberCache: Sendable {
    private let state = Mutex(State())

    private struct State {
        var platforms: [PlatformID: Int32] = [:]
        var platformNames: [Int32: PlatformID] = [:]
        var tags: [TagKey: Int64] = [:]
        var tagNames: [Int64: String] = [:]
    }

    /// The maximum number of cached tags. If further tags would exceed it, all cached tags are dropped first.
    private static let tagLimit = 1_000_000

    func platform(_ id: PlatformID) -> Int32? { state.withLock { $0.platforms[id] } }
    func platform(_ number: Int32) -> PlatformID? { state.withLock { $0.platformNames[number] } }

    /// Returns the platform that a number stands for. Called inside of a transaction of a shard, which must not read
    /// the table of platforms.
    /// - Throws: `unknownPlatform` if the number is not cached. The caller then reads the table of platforms and begins
    ///   again.
    func knownPlatform(_ number: Int32) throws(StorageError) -> PlatformID {
        guard let platform = platform(number) else { throw Self.unknownPlatform }
        return platform
    }

    static let unknownPlatform = StorageError(.corrupt, "A registration has an unknown platform; restore a backup.")

    func add(_ platforms: [StoredPlatform]) {
        state.withLock { state in
            for platform in platforms {
                state.platforms[platform.id] = platform.number
                state.platformNames[platform.number] = platform.id
            }
        }
    }

    func tag(_ key: TagKey) -> Int64? { state.withLock { $0.tags[key] } }
    func tagName(_ id: Int64) -> String? { state.withLock { $0.tagNames[id] } }

    func add(_ tags: [(key: TagKey, id: Int64)]) {
        state.withLock { state in
            if state.tags.count + tags.count > Self.tagLimit {
                state.tags = [:]
                state.tagNames = [:]
            }
            for (key, id) in tags {
                state.tags[key] = id
                state.tagNames[id] = key.name
            }
        }
    }
}

/// A platform with the number that stands for it in rows.
struct StoredPlatform: Sendable {
    var number: Int32
    var id: PlatformID

    var scopes: [Scope] { [Scope(platform: number, .native), Scope(platform: number, .template)] }
}

/// A tag of the registrations of one platform and kind.
struct TagKey: Hashable, Sendable {
    var scope: Scope
    var shard: Shard
    /// The name in lower case.
    var name: String
}

/// The registrations of one kind (native or template) on one platform. In the primary key of `registrations`, the
/// number of the scope is the column after the shard.
struct Scope: Hashable, Sendable {
    let number: Int32

    init(number: Int32) {
        self.number = number
    }

    init(platform: Int32, _ kind: AudienceQuery.Kind) {
        number = platform * 2 + (kind == .template ? 1 : 0)
    }

    var platform: Int32 { number / 2 }
    var kind: AudienceQuery.Kind { number % 2 == 1 ? .template : .native }
}
