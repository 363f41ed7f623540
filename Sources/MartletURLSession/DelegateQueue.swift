#if canImport(FoundationNetworking)
import Foundation

/// The queue on which a session calls its delegate, one call at a time.
///
/// On Linux a session reads as fast as the network delivers and submits the data to this queue, even if many calls are
/// already waiting there. If the data goes to a file that is written more slowly, the whole file could end up in
/// memory. This queue therefore makes the session wait if too many calls are waiting. On Apple's systems, sessions
/// limit the waiting calls themselves.
///
/// While the session waits, it cannot handle calls, so code that runs on this queue must not call the session. For
/// example, tasks are cancelled on a new thread.
///
/// `@unchecked Sendable`: the properties added to the superclass never change.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// The maximum number of waiting calls. On Linux each call delivers at most 16 KiB.
    private static let limit = 64

    private let room = DispatchSemaphore(value: limit)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        // This quality of service has its own threads; the threads of the default quality of service may all be waiting
        // for this queue.
        qualityOfService = .userInitiated
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        room.wait()
        super.addOperation { [room] in
            block()
            room.signal()
        }
    }
}
#endif
