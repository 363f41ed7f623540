import MartletModel
import Synchronization

/// Limits the number of test sends of each hub per minute.
final class TestSendLimiter: Sendable {
    static let limit = 10
    static let window: Duration = .seconds(60)

    private let sends = Mutex<[Hub.ID: [Timestamp]]>([:])

    /// Admits one more test send.
    /// - Returns: The time to wait if there were too many test sends; nil if the test send is admitted.
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
