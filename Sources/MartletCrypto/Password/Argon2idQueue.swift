import Glibc
import Synchronization

/// Runs Argon2id on a few dedicated threads, with a short queue of waiting work.
///
/// Threads start when there is work and end when there is none. Work that does not fit into the queue is refused at
/// once, so that a flood of passwords uses bounded memory and no caller waits for minutes. The parties on whose behalf
/// passwords are hashed (`Share`) take turns, so that a flood from one party does not block the others.
public final class Argon2idQueue: Sendable {
    /// The party on whose behalf a password is hashed.
    public struct Share: Hashable, Sendable {
        let name: String
        let isPreferred: Bool

        /// Creates a share. Shares are the same if both the name and the preference are equal.
        /// - Parameter isPreferred: Whether passwords of the share wait in the queue of preferred shares, which is
        ///   served before the queue of all other shares.
        public init(_ name: String, isPreferred: Bool = false) {
            self.name = name
            self.isPreferred = isPreferred
        }

        /// The share of the server's own work, such as adding a user for an operator.
        public static let own = Share("", isPreferred: true)
    }

    /// A piece of work for a thread.
    ///
    /// The closure is called with true if the work may run, or with false if the work is refused.
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

    /// Creates a queue.
    /// - Parameters:
    ///   - threadLimit: The maximum number of passwords that are hashed at the same time. Each hash uses as much memory
    ///     as its parameters say.
    ///   - waitingLimit: The maximum number of waiting passwords, counted separately for preferred and for other
    ///     shares.
    public init(threadLimit: Int = 1, waitingLimit: Int = 32) {
        self.threadLimit = threadLimit
        state = Mutex(
            State(preferred: FairQueue(countLimit: waitingLimit), others: FairQueue(countLimit: waitingLimit)))
    }

    /// Runs `Argon2id.verify` on a thread of the queue. Returns nil if the queue is full, or if a newer password of
    /// another share replaced this password in the full queue.
    public func verify(_ password: [UInt8], against phc: String, share: Share = .own) async -> Bool? {
        await perform(share) { Argon2id.verify(password, against: phc) }
    }

    /// Runs `Argon2id.hash` on a thread of the queue, for the share `own`. Returns nil in the same cases as `verify`,
    /// and if the hash cannot be computed.
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

    /// The argument that is passed to a new thread.
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
