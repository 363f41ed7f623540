import MartletModel
import Synchronization

/// Keeps messages within the sending rates of the push services (`SendingRate`). All lanes of one account share its
/// rate.
final class SendingRateLimits: Sendable {
    private static let limit = 4096
    private let meters = Mutex<[SendingRate: SendingRateMeter]>([:])
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    /// Waits until the given rate allows at least one more message.
    /// - Parameter wanted: The number of messages to send.
    /// - Returns: How many messages may be sent now, at least one; nil if the task is cancelled during the wait.
    func turn(for wanted: Int, _ pace: SendingRate) async -> Int? {
        while true {
            let now = time.now
            let turn = meters.withLock { meters in
                if meters.count >= Self.limit { meters = [:] }
                return meters[pace, default: SendingRateMeter(pace)].turn(for: wanted, at: now)
            }
            switch turn {
            case .now(let count): return count
            case .later(let timestamp): do { try await time.sleep(until: timestamp) } catch { return nil }
            }
        }
    }
}
