import MartletCore
import MartletModel
import Synchronization

/// Counts the test sends of each hub: they are answered while the caller waits, so there are few of them (wire document,
/// section 6.5).
final class TestSendLimit: Sendable {
    /// The most test sends of a hub within a minute.
    static let count = 10
    private static let window = Duration.seconds(60)

    private let time: any TimeSource
    /// When the last ones were, oldest first.
    private let moments = Mutex<[Hub.ID: [Timestamp]]>([:])

    init(time: any TimeSource) {
        self.time = time
    }

    /// Counts one, or refuses it with the time to wait.
    func admit(_ hub: Hub.ID) throws(HubAPIError) {
        let now = time.now
        let free = moments.withLock { moments -> Timestamp? in
            var recent = moments[hub, default: []].filter { $0 + Self.window > now }
            guard recent.count < Self.count else { return recent[0] + Self.window }
            recent.append(now)
            moments[hub] = recent
            return nil
        }
        guard let free else { return }
        // Whole seconds, rounded up: an earlier try would be refused again.
        let wait = max(1, (free.milliseconds - now.milliseconds + 999) / 1000)
        throw .throttled("A hub has at most \(Self.count) test sends a minute", retryAfter: Int(wait))
    }
}
