import MartletModel
import Synchronization

/// Holds senders to the paces of their services, over all lanes.
final class Paces: Sendable {
    private static let limit = 4096
    private let meters = Mutex<[SendingPace: PaceMeter]>([:])
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    /// Waits for the turn of as many messages as may go together.
    /// - Returns: How many may go now, one at least. Where the task is cancelled nothing is waited for: what is in hand
    ///   is brought to its end.
    func turn(for wanted: Int, _ pace: SendingPace) async -> Int {
        let now = time.now
        let turn = meters.withLock { meters in
            if meters.count >= Self.limit { meters = [:] }
            return meters[pace, default: PaceMeter(pace)].turn(for: wanted, at: now)
        }
        if turn.at > now { try? await time.sleep(until: turn.at) }
        return turn.count
    }
}
