#if canImport(FoundationNetworking)
import Foundation

/// The queue on which a session calls its delegate, one call at a time.
///
/// On Linux a session reads as fast as the network gives and hands over what it read by this queue, however much waits
/// there already: a file that is written more slowly would be in memory as a whole. Here the session waits where too
/// many calls do. Apple's systems do that by themselves. While the session waits it cannot be asked anything, so no call
/// on this queue may: what cancels a task does so elsewhere.
///
/// `@unchecked Sendable`: what it has besides a queue never changes.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// Pieces are of 16 KiB at most there.
    private static let limit = 64

    private let room = DispatchSemaphore(value: limit)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        // Threads of their own: those of the usual kind may all be waiting for this queue.
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
