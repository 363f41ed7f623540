import Glibc
import Synchronization

/// Argon2id off everybody's threads: a few of its own do the work, and a short queue waits for them.
///
/// Threads are started when there is work and end when there is none. What does not fit the queue is refused at once,
/// so that a flood of passwords costs bounded memory and nobody waits for minutes. Shares take turns, so that the flood
/// of one leaves the others served.
public final class Argon2idQueue: Sendable {
    /// On whose behalf a password is hashed.
    public struct Share: Hashable, Sendable {
        let name: String
        let isPreferred: Bool

        /// - Parameter isPreferred: Whether it goes before all that are not, in a queue of its own.
        public init(_ name: String, isPreferred: Bool = false) {
            self.name = name
            self.isPreferred = isPreferred
        }

        /// The server's own work, such as a user whom an operator adds.
        public static let own = Share("", isPreferred: true)
    }

    /// What waits: called with whether it may work, or is refused.
    private typealias Work = @Sendable (_ mayWork: Bool) -> Void

    private struct State {
        var threads = 0
        var preferred: FairQueue<String, Work>
        var others: FairQueue<String, Work>

        mutating func add(_ work: @escaping Work, of share: Share) -> FairQueue<String, Work>.Admission {
            share.isPreferred ? preferred.add(work, of: share.name) : others.add(work, of: share.name)
        }
    }

    private let state: Mutex<State>
    private let threadLimit: Int

    /// - Parameters:
    ///   - threadLimit: How many passwords are hashed at the same time, at most; each takes the memory of its parameters.
    ///   - waitingLimit: How many may wait besides, of preferred shares and of the others each.
    public init(threadLimit: Int = 1, waitingLimit: Int = 32) {
        self.threadLimit = threadLimit
        state = Mutex(
            State(preferred: FairQueue(countLimit: waitingLimit), others: FairQueue(countLimit: waitingLimit)))
    }

    /// `Argon2id.verify` on a thread of the queue; nil where the queue is full.
    public func verify(_ password: [UInt8], against phc: String, share: Share = .own) async -> Bool? {
        await perform(share) { Argon2id.verify(password, against: phc) }
    }

    /// `Argon2id.hash` on a thread of the queue; nil where the queue is full or the hash cannot be computed.
    public func hash(_ password: [UInt8], parameters: Argon2id.Parameters) async -> String? {
        await perform { try? Argon2id.hash(password, parameters: parameters) } ?? nil
    }

    func perform<Value: Sendable>(
        _ share: Share = .own, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            post(share) { mayWork in continuation.resume(returning: mayWork ? work() : nil) }
        }
    }

    private func post(_ share: Share, _ work: @escaping Work) {
        let (refused, needsThread) = state.withLock { state -> (Work?, Bool) in
            guard state.threads == threadLimit else {
                state.threads += 1
                return (nil, true)
            }
            return switch state.add(work, of: share) {
            case .waiting: (nil, false)
            case .replaced(let replaced): (replaced, false)
            case .full: (work, false)
            }
        }
        refused?(false)
        if needsThread { startThread(with: work) }
    }

    /// What a new thread begins with.
    private final class Start: Sendable {
        let queue: Argon2idQueue
        let work: Work

        init(_ queue: Argon2idQueue, _ work: @escaping Work) {
            self.queue = queue
            self.work = work
        }
    }

    private func startThread(with work: @escaping Work) {
        let start = Unmanaged.passRetained(Start(self, work))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                start.work(true)
                start.queue.work()
                return nil
            }, start.toOpaque())
        precondition(code == 0, "The system gives this process no more threads.")
        pthread_detach(thread)
    }

    private func work() {
        while let next = nextOrEnd() { next(true) }
    }

    private func nextOrEnd() -> Work? {
        state.withLock { state in
            if let next = state.preferred.next() ?? state.others.next() { return next }
            state.threads -= 1
            return nil
        }
    }
}
