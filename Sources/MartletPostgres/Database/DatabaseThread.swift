import Glibc
import Synchronization

/// A thread that runs work items one after another, so that waiting for the database delays no other task.
final class DatabaseThread: Sendable {
    private let mailbox = Mailbox()

    init() {
        let mailbox = mailbox
        Mailbox.startThread { mailbox.runUntilClosed() }
    }

    deinit {
        mailbox.close()
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        mailbox.post(work)
    }
}

/// The queue between the threads that submit work and the one thread that executes it.
///
/// Unchecked: `work` and `isClosed` are only accessed while `mutex` is held.
private final class Mailbox: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: [@Sendable () -> Void] = []
    private var isClosed = false

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
        while let items = next() {
            for item in items { item() }
        }
    }

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
