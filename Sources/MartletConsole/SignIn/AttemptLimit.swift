import MartletCore
import MartletModel
import Synchronization

/// Limits the attempts at a secret of an operator, whatever addresses they come from.
///
/// Attempts come only after another check, such as the password before a code, so a stranger cannot use up an operator's
/// attempts. An operator has five attempts, and then one every five minutes.
final class AttemptLimit: Sendable {
    /// The number of attempts that count against each operator, by the name in lower case, and the time from which
    /// `forgiveness` runs. After each such period, one attempt is forgiven.
    private let failures = Mutex<[String: (count: Int, at: Timestamp)]>([:])
    private let time: any TimeSource
    private let refusal: String

    private static let failureLimit = 5
    private static let forgiveness = Duration.seconds(300)

    /// - Parameter refusal: The sentence that a refused caller gets.
    init(time: any TimeSource, refusal: String) {
        self.time = time
        self.refusal = refusal
    }

    /// Counts an attempt before it is checked, so that simultaneous attempts cannot exceed the limit. A right attempt
    /// resets the count (`forgive`).
    /// - Throws: `ConsoleRefusal.tooMany` if the operator has no attempt left.
    func admit(_ name: String) throws(ConsoleRefusal) {
        let now = time.now
        let wait = failures.withLock { failures -> Duration? in
            var (count, at) = failures[name.lowercased()] ?? (0, now)
            let forgiven = max(0, Int((now - at) / Self.forgiveness))
            count = max(0, count - forgiven)
            at = count == 0 ? now : at + Self.forgiveness * forgiven
            guard count < Self.failureLimit else {
                failures[name.lowercased()] = (count, at)
                return at + Self.forgiveness - now
            }
            failures[name.lowercased()] = (count + 1, count == 0 ? now : at)
            return nil
        }
        guard let wait else { return }
        throw .tooMany(retryAfter: wait.components.seconds + 1, refusal)
    }

    func forgive(_ name: String) {
        failures.withLock { $0[name.lowercased()] = nil }
    }
}
