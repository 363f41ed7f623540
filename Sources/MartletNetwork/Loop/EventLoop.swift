import CMartletLinux
import Glibc

/// A thread that waits for sockets and timers and runs queued work.
///
/// A loop is a serial executor, so that an actor can run on it. A loop is also a task executor:
/// `Task(executorPreference: loop)` runs an async handler on the thread of its connections. Objects owned by a loop are
/// not Sendable. Their methods must be called on the loop's thread and trap on any other thread.
///
/// The thread ends after the last reference to the loop is released.
public final class EventLoop: SerialExecutor, TaskExecutor {
    private let core: LoopCore

    /// Starts the thread.
    /// - Parameter name: The name of the thread in debuggers, at most 15 bytes.
    public init(name: String = "martlet-loop") throws(NetworkError) {
        core = try LoopCore()
        core.serialExecutor = asUnownedSerialExecutor()
        core.taskExecutor = asUnownedTaskExecutor()
        // If the peer closes the connection while OpenSSL writes, the write must return an error. Without this line,
        // SIGPIPE would end the process.
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(LoopThread(core: core, name: name))
        guard pthread_create(&thread, nil, runLoopThread, argument.toOpaque()) == 0 else {
            argument.release()
            throw .system("pthread_create")
        }
        pthread_detach(thread)
    }

    deinit {
        core.stop()
    }

    // MARK: From any thread

    /// True if the caller runs on the loop's thread.
    public var isCurrent: Bool { core.isCurrent }

    /// The total time that the thread has spent working, not waiting.
    public var busyTime: Duration { core.busyTime }

    public func enqueue(_ job: consuming ExecutorJob) {
        core.enqueue(.job(UnownedJob(job)))
    }

    public func checkIsolated() {
        preconditionCurrent()
    }

    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    /// Waits until the loop has run the work that is queued now.
    public func turn() async {
        await withCheckedContinuation { continuation in enqueue { continuation.resume() } }
    }

    /// Queues a call to run on the loop's thread.
    public func enqueue(_ call: @escaping @Sendable () -> Void) {
        core.enqueue(.call(call))
    }

    /// Calls the closure immediately if the caller is on the loop's thread; otherwise queues it.
    func perform(_ call: @escaping @Sendable () -> Void) {
        if isCurrent { call() } else { enqueue(call) }
    }

    /// Runs a closure on the loop and returns its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: body()) }
        }
    }

    /// Runs a throwing closure on the loop, and returns its result or throws its error.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await run { () -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    func preconditionCurrent() {
        precondition(isCurrent, "what belongs to an event loop was touched on another thread")
    }

    // MARK: On the loop

    /// The time at which the current iteration of the loop began.
    var now: ContinuousClock.Instant {
        preconditionCurrent()
        return core.now
    }

    /// Calls an action once, at the due time or soon after it, unless the timer is cancelled before.
    func startTimer(due: ContinuousClock.Instant, _ action: @escaping () -> Void) -> TimerID {
        preconditionCurrent()
        return core.startTimer(due: due, action)
    }

    func cancelTimer(_ id: TimerID) {
        preconditionCurrent()
        core.cancelTimer(id)
    }

    /// Calls an action at the end of the current iteration.
    ///
    /// An action that is added by another such action runs at the end of the next iteration.
    func atEndOfTurn(_ action: @escaping () -> Void) {
        preconditionCurrent()
        core.atEndOfTurn(action)
    }

    func register(
        _ descriptor: Int32, for readiness: Readiness, handler: any ReadinessHandler
    ) throws(NetworkError) -> Registration {
        preconditionCurrent()
        return try core.register(descriptor, for: readiness, handler: handler)
    }

    func update(_ registration: Registration, for readiness: Readiness) {
        preconditionCurrent()
        core.update(registration, for: readiness)
    }

    /// Unregisters a descriptor. Must be called before the descriptor is closed.
    func unregister(_ registration: Registration) {
        preconditionCurrent()
        core.unregister(registration)
    }

    /// Calls the closure with the buffer that all the loop's connections read into.
    func withInputBuffer<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        preconditionCurrent()
        return body(core.inputBuffer)
    }

    /// Calls the closure with an empty buffer in which the loop's connections collect output. The buffer keeps its
    /// capacity from earlier use.
    func withOutputBuffer(_ body: (inout [UInt8]) -> Void) {
        preconditionCurrent()
        var buffer: [UInt8] = []
        swap(&buffer, &core.outputBuffer)
        buffer.removeAll(keepingCapacity: true)
        body(&buffer)
        swap(&buffer, &core.outputBuffer)
    }
}

/// The argument that is passed to a new thread.
private final class LoopThread {
    let core: LoopCore
    let name: String

    init(core: LoopCore, name: String) {
        self.core = core
        self.name = name
    }
}

private func runLoopThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let thread = Unmanaged<LoopThread>.fromOpaque(argument).takeRetainedValue()
    martlet_name_thread(thread.name)
    thread.core.run()
    return nil
}
