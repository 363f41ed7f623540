import Synchronization

/// Runs asynchronous tasks of the same key one after another, in the order of the calls; tasks of different keys run at
/// the same time. A task of `runAlone` runs after all earlier tasks, and before all later ones.
final class KeyedWork<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var task: Task<Void, Never>
        var number: UInt64
    }

    private struct State {
        /// The last task of each key since the last task that runs alone.
        var last: [Key: Entry] = [:]
        var alone: Entry?
        var count: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            count += 1
            return count
        }
    }

    private let state = Mutex(State())

    /// The number of keys with a task that has not ended.
    var keyCount: Int { state.withLock { $0.last.count } }

    /// Runs a closure after all closures of earlier calls with the same key, and all that run alone, have finished. The
    /// closure runs to completion even if the caller is cancelled.
    func run<Output: Sendable>(_ key: Key, _ work: @escaping @Sendable () async -> Output) async -> Output {
        let (task, number) = state.withLock { state in
            let before = state.last[key]?.task ?? state.alone?.task
            let task = Task {
                await before?.value
                return await work()
            }
            let number = state.nextNumber()
            state.last[key] = Entry(task: Task { _ = await task.value }, number: number)
            return (task, number)
        }
        let output = await task.value
        state.withLock { state in
            if state.last[key]?.number == number { state.last[key] = nil }
        }
        return output
    }

    /// Runs a closure after all closures of earlier calls have finished. Closures of later calls wait until this
    /// closure has finished.
    func runAlone<Output: Sendable>(_ work: @escaping @Sendable () async -> Output) async -> Output {
        let (task, number) = state.withLock { state in
            let before = state.last.values.map(\.task) + [state.alone?.task].compactMap(\.self)
            let task = Task {
                for task in before { await task.value }
                return await work()
            }
            let number = state.nextNumber()
            state.alone = Entry(task: Task { _ = await task.value }, number: number)
            state.last = [:]
            return (task, number)
        }
        let output = await task.value
        state.withLock { state in
            if state.alone?.number == number { state.alone = nil }
        }
        return output
    }
}
