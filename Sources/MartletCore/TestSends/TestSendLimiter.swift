import MartletModel
import Synchronization

/// Counts the test sends of each hub in the minute that has just passed.
final class TestSendLimiter: Sendable {
    static let limit = 10
    static let window: Duration = .seconds(60)

    private let sends = Mutex<[Hub.ID: [Timestamp]]>([:])

    /// Lets one more send through.
    /// - Returns: How long to wait where there were too many; nil where it may go.
    func take(_ hub: Hub.ID, at now: Timestamp) -> Duration? {
        sends.withLock { sends in
            let recent = (sends[hub] ?? []).filter { $0 <= now && now - $0 < Self.window }
            guard recent.count < Self.limit else {
                sends[hub] = recent
                return recent.first.map { Self.window - (now - $0) }
            }
            sends[hub] = recent + [now]
            return nil
        }
    }
}
