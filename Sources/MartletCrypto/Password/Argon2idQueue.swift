import Glibc
import Synchronization

/// Argon2id off everybody's threads: a few of its own do the work, and a short queue waits for them.
///
/// Threads are started when there is work and end when there is none. What does not fit the queue is refused at once,
/// so that a flood of passwords costs bounded memory and nobody waits for minutes.
public final class Argon2idQueue: Sendable {
    private struct State {
        var threads = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let threadLimit: Int
    private let waitingLimit: Int

    /// - Parameters:
    ///   - threadLimit: How many passwords are hashed at the same time, at most; each takes the memory of its parameters.
    ///   - waitingLimit: How many may wait besides.
    public init(threadLimit: Int = 1, waitingLimit: Int = 32) {
        self.threadLimit = threadLimit
        self.waitingLimit = waitingLimit
    }

    /// `Argon2id.verify` on a thread of the queue; nil where the queue is full.
    public func verify(_ password: [UInt8], against phc: String) async -> Bool? {
        await perform { Argon2id.verify(password, against: phc) }
    }

    /// `Argon2id.hash` on a thread of the queue; nil where the queue is full or the hash cannot be computed.
    public func hash(_ password: [UInt8], parameters: Argon2id.Parameters) async -> String? {
        await perform { try? Argon2id.hash(password, parameters: parameters) } ?? nil
    }

    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let isTaken = post { continuation.resume(returning: work()) }
            if !isTaken { continuation.resume(returning: nil) }
        }
    }

    private func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            let needsThread = state.threads < threadLimit
            guard needsThread || state.waiting.count < waitingLimit else { return (false, false) }
            state.waiting.append(work)
            if needsThread { state.threads += 1 }
            return (true, needsThread)
        }
        if needsThread { startThread() }
        return isTaken
    }

    private func startThread() {
        let queue = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Argon2idQueue>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            }, queue.toOpaque())
        precondition(code == 0, "The system gives this process no more threads.")
        pthread_detach(thread)
    }

    private func work() {
        while let next = nextOrEnd() { next() }
    }

    private func nextOrEnd() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }
}
