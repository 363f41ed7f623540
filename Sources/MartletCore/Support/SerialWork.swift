import Synchronization

/// Does pieces of asynchronous work one after the other, in the order in which they come.
final class SerialWork: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Does the work once all that came before is done, and to its end even where the caller is cancelled.
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
