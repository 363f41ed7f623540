import MartletModel
import Synchronization

/// Holds senders to the paces of their services, over all lanes.
final class SendingRateLimits: Sendable {
    private static let limit = 4096
    private let meters = Mutex<[SendingRate: SendingRateMeter]>([:])
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    /// Waits for the turn of as many messages as may go together.
    /// - Returns: How many may go now, one at least; nil where the task is cancelled before that.
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
