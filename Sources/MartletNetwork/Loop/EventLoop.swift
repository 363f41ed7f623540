import CMartletLinux
import Glibc

/// One thread that waits for sockets and timers and runs what is queued for it.
///
/// It is a serial executor, so that an actor can live on it, and a task executor, so that
/// `Task(executorPreference: loop)` runs an async handler beside the connections it answers. Whatever belongs to a loop
/// is ordinary and not Sendable; the loop's own methods for it may be called on its thread alone and trap elsewhere.
///
/// The thread ends after the last reference to the loop is gone.
public final class EventLoop: SerialExecutor, TaskExecutor {
    private let core: LoopCore

    /// Starts the thread.
    /// - Parameter name: Of the thread, for debuggers: at most 15 bytes.
    public init(name: String = "martlet-loop") throws(NetworkError) {
        core = try LoopCore()
        core.serialExecutor = asUnownedSerialExecutor()
        core.taskExecutor = asUnownedTaskExecutor()
        // A peer that closes while OpenSSL writes must be an error of that write, not the end of the process.
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

    // MARK: from any thread

    /// Whether the caller runs on the loop's thread.
    public var isCurrent: Bool { core.isCurrent }

    /// How long the thread has been at work rather than waiting, since it began.
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

    /// Queues a call.
    public func enqueue(_ call: @escaping @Sendable () -> Void) {
        core.enqueue(.call(call))
    }

    /// Calls at once where the caller is on the loop already, and queues the call elsewhere.
    func perform(_ call: @escaping @Sendable () -> Void) {
        if isCurrent { call() } else { enqueue(call) }
    }

    /// Runs a closure on the loop and returns what it returns.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: body()) }
        }
    }

    /// Runs a throwing closure on the loop.
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

    // MARK: on the loop

    /// The time at which this turn of the loop began.
    var now: ContinuousClock.Instant {
        preconditionCurrent()
        return core.now
    }

    /// Calls an action once the time has come.
    func startTimer(due: ContinuousClock.Instant, _ action: @escaping () -> Void) -> TimerID {
        preconditionCurrent()
        return core.startTimer(due: due, action)
    }

    func cancelTimer(_ id: TimerID) {
        preconditionCurrent()
        core.cancelTimer(id)
    }

    /// Calls an action after everything else of this turn, or of the next where this is such an action already.
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

    /// To be called before the descriptor is closed.
    func unregister(_ registration: Registration) {
        preconditionCurrent()
        core.unregister(registration)
    }

    /// Lends the buffer into which the loop's connections read.
    func withInputBuffer<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        preconditionCurrent()
        return body(core.inputBuffer)
    }

    /// Lends an empty buffer, with room from earlier use, in which the loop's connections gather what they send.
    func withOutputBuffer(_ body: (inout [UInt8]) -> Void) {
        preconditionCurrent()
        var buffer: [UInt8] = []
        swap(&buffer, &core.outputBuffer)
        buffer.removeAll(keepingCapacity: true)
        body(&buffer)
        swap(&buffer, &core.outputBuffer)
    }
}

/// What a new thread is given.
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
