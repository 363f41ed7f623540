import CMartletLinux
import Glibc
import Synchronization

/// The implementation of an event loop's thread.
///
/// @unchecked Sendable because `queue` is protected by its lock, `thread` is atomic, and the properties marked as owned
/// by the thread are used only on the loop's thread (each method of `EventLoop` asserts this).
final class LoopCore: @unchecked Sendable {
    enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct Queue {
        var work: [Work] = []
        var isStopped = false
    }

    private static let eventsPerTurn = 256

    private let epoll: Int32
    private let wakeUp: Int32
    private let queue = Mutex(Queue())
    private let thread = Atomic<UInt>(0)
    /// The total working time of the thread, in nanoseconds.
    private let busy = Atomic<Int64>(0)

    // The following properties are used only on the loop's thread.
    private(set) var now = ContinuousClock.now
    private var timers = TimerHeap<() -> Void>()
    private var handlers: [UInt64: any ReadinessHandler] = [:]
    private var lastRegistration: UInt64 = 0
    private var endOfTurn: [() -> Void] = []
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventsPerTurn)
    /// The buffers that all connections of the loop share for reading and writing, so that idle connections hold no
    /// buffers.
    let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    var outputBuffer: [UInt8] = []
    /// The event loop as a serial executor and as a task executor. Both are set before the thread starts.
    var serialExecutor: UnownedSerialExecutor?
    var taskExecutor: UnownedTaskExecutor?

    init() throws(NetworkError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .system("epoll_create1") }
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeUp >= 0 else {
            let error = NetworkError.system("eventfd")
            close(epoll)
            throw error
        }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event) == 0 else {
            let error = NetworkError.system("epoll_ctl")
            close(wakeUp)
            close(epoll)
            throw error
        }
    }

    deinit {
        close(wakeUp)
        close(epoll)
        events.deallocate()
        inputBuffer.deallocate()
    }

    // MARK: From any thread

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// The total working time of the completed iterations.
    var busyTime: Duration { .nanoseconds(busy.load(ordering: .relaxed)) }

    func enqueue(_ work: Work) {
        let wasEmpty = queue.withLock { queue in
            queue.work.append(work)
            return queue.work.count == 1
        }
        if wasEmpty, !isCurrent { wake() }
    }

    /// Ends the thread once it has run the queued work.
    func stop() {
        queue.withLock { $0.isStopped = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: On the thread

    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            let (isIdle, isStopped) = queue.withLock { ($0.work.isEmpty, $0.isStopped) }
            if isIdle, isStopped { return }
            recordTurn()
            let count = wait(isIdle: isIdle && endOfTurn.isEmpty)
            now = ContinuousClock.now
            handleEvents(count)
            fireTimers()
            runQueue()
            runEndOfTurn()
        }
    }

    /// Adds the duration of the iteration that ends now to `busy`. Only this thread writes `busy`, so a load and a
    /// store are enough.
    private func recordTurn() {
        let (seconds, attoseconds) = (ContinuousClock.now - now).components
        let turn = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        busy.store(busy.load(ordering: .relaxed) + turn, ordering: .relaxed)
    }

    private func wait(isIdle: Bool) -> Int {
        var timeout: Int32 = isIdle ? -1 : 0
        if isIdle, let due = timers.nextDue { timeout = Self.milliseconds(until: due) }
        return Int(max(0, epoll_wait(epoll, events, Int32(Self.eventsPerTurn), timeout)))
    }

    /// Returns the time until `due` in milliseconds, rounded up so that the loop does not wake too early and spin.
    private static func milliseconds(until due: ContinuousClock.Instant) -> Int32 {
        let left = (due - ContinuousClock.now).components
        guard left.seconds >= 0, left.attoseconds > 0 || left.seconds > 0 else { return 0 }
        let milliseconds = min(left.seconds, 3600) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
        return Int32(milliseconds)
    }

    private func handleEvents(_ count: Int) {
        for index in 0..<count {
            let event = events[index]
            guard event.data.u64 != 0 else {
                var drained: UInt64 = 0
                _ = read(wakeUp, &drained, MemoryLayout<UInt64>.size)
                continue
            }
            handlers[event.data.u64]?.ready(Readiness(rawValue: event.events))
        }
    }

    private func fireTimers() {
        var left = Self.eventsPerTurn
        while left > 0, let action = timers.popDue(at: now) {
            action()
            left -= 1
        }
    }

    /// Runs the work that is queued now.
    ///
    /// Work that is queued during this call runs in the next iteration, after the sockets.
    private func runQueue() {
        let work = queue.withLock { queue in
            let work = queue.work
            queue.work = []
            return work
        }
        for item in work {
            switch item {
            case .job(let job):
                if let serialExecutor, let taskExecutor {
                    job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
                }
            case .call(let call): call()
            }
        }
    }

    private func runEndOfTurn() {
        let actions = endOfTurn
        endOfTurn = []
        for action in actions { action() }
    }

    func atEndOfTurn(_ action: @escaping () -> Void) {
        endOfTurn.append(action)
    }

    func startTimer(due: ContinuousClock.Instant, _ action: @escaping () -> Void) -> TimerID {
        timers.insert(due: due, action)
    }

    func cancelTimer(_ id: TimerID) {
        let action = timers.cancel(id)
        withExtendedLifetime(action) {}
    }

    func register(
        _ descriptor: Int32, for readiness: Readiness, handler: any ReadinessHandler
    ) throws(NetworkError) -> Registration {
        lastRegistration += 1
        let registration = Registration(number: lastRegistration, descriptor: descriptor)
        var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(u64: registration.number))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw .system("epoll_ctl") }
        handlers[registration.number] = handler
        return registration
    }

    func update(_ registration: Registration, for readiness: Readiness) {
        var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(u64: registration.number))
        epoll_ctl(epoll, EPOLL_CTL_MOD, registration.descriptor, &event)
    }

    /// Unregisters a descriptor. Must be called before the descriptor is closed.
    func unregister(_ registration: Registration) {
        handlers.removeValue(forKey: registration.number)
        epoll_ctl(epoll, EPOLL_CTL_DEL, registration.descriptor, nil)
    }
}
