import MartletModel
import Synchronization

/// Prevents pages of different notifications with the same collapse key from being sent to the same device at the same
/// time. Otherwise the older notification could arrive last.
final class CollapseLocks: Sendable {
    private struct Waiting {
        var page: CollapseLockTable.Page
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var board = CollapseLockTable()
        var waiting: [CollapseLockTable.Scope: [Waiting]] = [:]
    }

    private let state = Mutex(State())

    /// Takes the lock on the devices of a page. Returns nil if another page with the same lane and collapse key is in
    /// progress and has any of these devices.
    func take(_ scope: CollapseLockTable.Scope, _ devices: CollapseDevices) -> CollapseLockTable.Turn? {
        let wanted = CollapseLockTable.Page(devices)
        return state.withLock { $0.board.take(scope, wanted) }
    }

    /// Waits while any page in progress with the same lane and collapse key has any of the devices. The wait takes no
    /// longer than the requests of the pages in progress.
    func wait(_ scope: CollapseLockTable.Scope, _ devices: CollapseDevices) async {
        let wanted = CollapseLockTable.Page(devices)
        await withCheckedContinuation { continuation in
            let isBusy = state.withLock { state in
                // The page that held the lock may have ended since `take` returned nil; then there is nothing to wait
                // for.
                guard state.board.isBusy(scope, for: wanted) else { return false }
                state.waiting[scope, default: []].append(Waiting(page: wanted, continuation: continuation))
                return true
            }
            if !isBusy { continuation.resume() }
        }
    }

    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    func end(_ turn: CollapseLockTable.Turn) {
        let free = state.withLock { state in
            state.board.end(turn)
            var waiting = state.waiting.removeValue(forKey: turn.scope) ?? []
            let firstFree = waiting.partition { !state.board.isBusy(turn.scope, for: $0.page) }
            if firstFree > 0 { state.waiting[turn.scope] = Array(waiting[..<firstFree]) }
            return waiting[firstFree...].map(\.continuation)
        }
        for continuation in free { continuation.resume() }
    }
}

/// A table of the pages in progress whose notifications have a collapse key. It does no locking and no I/O.
struct CollapseLockTable {
    /// The lane and collapse key within which one notification replaces another.
    struct Scope: Hashable {
        var lane: LaneID
        var key: String
    }

    /// The devices of a page, each of them once. Some pages identify devices by channel, others by the key of the
    /// handle. Two pages of different kinds cannot be compared, so they are assumed to share devices.
    enum Page {
        case channels(Set<ChannelID>)
        case handleKeys(Set<String>)

        init(_ devices: CollapseDevices) {
            self =
                switch devices {
                case .channels(let channels): .channels(Set(channels))
                case .followed(let registrations): .channels(Set(registrations.map(\.registration.channel)))
                case .handleKeys(let keys): .handleKeys(Set(keys))
                }
        }

        func shares(_ other: Page) -> Bool {
            switch (self, other) {
            case (.channels(let own), .channels(let others)): !own.isDisjoint(with: others)
            case (.handleKeys(let own), .handleKeys(let others)): !own.isDisjoint(with: others)
            default: true
            }
        }
    }

    struct Turn: Hashable {
        let scope: Scope
        fileprivate let number: Int
    }

    private var pages: [Scope: [Int: Page]] = [:]
    private var last = 0

    /// Records that a page is in progress. If another page in progress in the same scope has any of the page's devices,
    /// returns nil and records nothing.
    mutating func take(_ scope: Scope, _ page: Page) -> Turn? {
        guard !isBusy(scope, for: page) else { return nil }
        last += 1
        pages[scope, default: [:]][last] = page
        return Turn(scope: scope, number: last)
    }

    func isBusy(_ scope: Scope, for page: Page) -> Bool {
        pages[scope]?.values.contains { $0.shares(page) } ?? false
    }

    mutating func end(_ turn: Turn) {
        pages[turn.scope]?[turn.number] = nil
        if pages[turn.scope]?.isEmpty == true { pages[turn.scope] = nil }
    }
}
