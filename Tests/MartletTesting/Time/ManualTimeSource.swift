public import MartletCore
public import MartletModel
import Synchronization

/// A clock that stands still until a test moves it. When the clock passes the time for which a task sleeps, the task
/// wakes.
public final class ManualTimeSource: TimeSource {
    private struct Sleeper {
        var timestamp: Timestamp
        var wake: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var count: Int
        var tell: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now: Timestamp
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Watcher] = []
        /// The ids of sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// - Parameter now: The time that the clock shows at first; by default a time in 2023.
    public init(_ now: Timestamp = Timestamp(seconds: 1_700_000_000)) {
        state = Mutex(State(now: now))
    }

    public var now: Timestamp { state.withLock { $0.now } }

    /// The time when the next sleeping task wakes; nil if no task sleeps.
    public var nextWake: Timestamp? { state.withLock { $0.sleepers.values.map(\.timestamp).min() } }

    public func advance(by duration: Duration) {
        advance(to: now + duration)
    }

    /// Moves the clock, and wakes the tasks whose time has come, the earliest first. If the clock is moved back, all
    /// sleeping tasks wake.
    public func advance(to timestamp: Timestamp) {
        let due = state.withLock { state in
            let isSetBack = timestamp < state.now
            state.now = timestamp
            let due = state.sleepers.filter { isSetBack || $0.value.timestamp <= timestamp }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.timestamp < $1.timestamp }
        }
        for sleeper in due { sleeper.wake.resume() }
    }

    /// Returns as soon as at least this many tasks sleep at the same time. Then the code under test waits for the
    /// clock.
    public func untilSleeping(_ count: Int = 1) async {
        await withCheckedContinuation { tell in
            let isReached = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.watchers.append(Watcher(count: count, tell: tell))
                return false
            }
            if isReached { tell.resume() }
        }
    }

    public func sleep(until timestamp: Timestamp) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wake in add(Sleeper(timestamp: timestamp, wake: wake), id: id) }
        } onCancel: {
            cancel(id)
        }
    }

    private enum Start {
        case awake, cancelled
        case asleep([Watcher])
    }

    private func add(_ sleeper: Sleeper, id: Int) {
        let start: Start = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .cancelled }
            if sleeper.timestamp <= state.now { return .awake }
            state.sleepers[id] = sleeper
            let reached = state.watchers.filter { $0.count <= state.sleepers.count }
            state.watchers.removeAll { $0.count <= state.sleepers.count }
            return .asleep(reached)
        }
        switch start {
        case .awake: sleeper.wake.resume()
        case .cancelled: sleeper.wake.resume(throwing: CancellationError())
        case .asleep(let watchers): for watcher in watchers { watcher.tell.resume() }
        }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.wake.resume(throwing: CancellationError())
    }
}
