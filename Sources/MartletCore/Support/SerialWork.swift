import Synchronization

/// Runs asynchronous tasks one after another, in the order of the calls.
final class SerialWork: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs a closure after all closures of earlier calls have finished. The closure runs to completion even if the
    /// caller is cancelled.
    func run<Output: Sendable>(_ work: @escaping @Sendable () async -> Output) async -> Output {
        let task = last.withLock { last in
            let task = Task { [before = last] in
                await before?.value
                return await work()
            }
            last = Task { _ = await task.value }
            return task
        }
        return await task.value
    }
}
