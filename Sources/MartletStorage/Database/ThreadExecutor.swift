import Glibc

/// Runs the jobs of an actor one after another on a thread of its own, so that blocking calls do not delay other tasks.
/// The thread ends when the last reference to the executor is released.
public final class ThreadExecutor: SerialExecutor {
    private let mailbox = Mailbox()

    public init() {
        let mailbox = mailbox
        Mailbox.startThread { mailbox.runUntilClosed() }
    }

    deinit {
        mailbox.close()
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a closure on the executor's thread, after the work that was submitted before it.
    func perform(_ work: @escaping @Sendable () -> Void) {
        mailbox.post(work)
    }

    public func checkIsolated() {
        precondition(mailbox.isOnThread, "This must run on the thread of the executor.")
    }
}

/// The queue between the threads that submit work and the one thread that executes it.
///
/// Unchecked: `work`, `isClosed` and `thread` are only accessed while `mutex` is held.
private final class Mailbox: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: [@Sendable () -> Void] = []
    private var isClosed = false
    private var thread: pthread_t?

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(hasWork, nil)
    }

    deinit {
        pthread_cond_destroy(hasWork)
        pthread_mutex_destroy(mutex)
        hasWork.deallocate()
        mutex.deallocate()
    }

    var isOnThread: Bool {
        locked { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func post(_ item: @escaping @Sendable () -> Void) {
        locked {
            work.append(item)
            pthread_cond_signal(hasWork)
        }
    }

    func close() {
        locked {
            isClosed = true
            pthread_cond_signal(hasWork)
        }
    }

    func runUntilClosed() {
        locked { thread = pthread_self() }
        while let items = next() {
            for item in items { item() }
        }
    }

    /// Waits for work and returns it; returns nil if the queue is closed and empty.
    private func next() -> [@Sendable () -> Void]? {
        locked {
            while work.isEmpty && !isClosed { pthread_cond_wait(hasWork, mutex) }
            guard !work.isEmpty else { return nil }
            defer { work = [] }
            return work
        }
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    static func startThread(_ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(ThreadStart(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        precondition(code == 0, "The system gives this process no more threads.")
        pthread_detach(thread)
    }
}

private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
