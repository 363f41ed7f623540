public import MartletModel

/// When a notification expires, as stated by its sender.
public enum Expiry: Hashable, Sendable {
    case at(Timestamp)
    /// The notification expires this long after it is due.
    case after(Duration)

    /// The maximum time from the due time of a notification to its expiry.
    public static let limit: Duration = .seconds(days * 86_400)
    private static let days: Int64 = 28

    /// Returns the expiry of a notification that begins at `now` and refers to data that is kept only until
    /// `timestamp`. The notification expires at `timestamp`, but at least a millisecond and at most `limit` after
    /// `now`.
    public static func until(_ timestamp: Timestamp, at now: Timestamp) -> Expiry {
        .after(min(max(timestamp - now, .milliseconds(1)), limit))
    }

    /// Returns the time at which the notification expires.
    /// - Parameter start: When the notification is due.
    /// - Throws: `.invalid` if the expiry is not after `start`, or is more than `limit` after it.
    func timestamp(from start: Timestamp) throws(NotificationIntakeError) -> Timestamp {
        let timestamp: Timestamp
        switch self {
        case .at(let stated): timestamp = stated
        case .after(let duration):
            // A duration above the limit is refused before it is added, because the sum could overflow.
            guard duration <= Self.limit else { throw Self.tooLate }
            timestamp = start + duration
        }
        guard timestamp > start else {
            throw .invalid("The notification would expire before it goes out, at \(start.iso8601).")
        }
        guard timestamp <= start + Self.limit else { throw Self.tooLate }
        return timestamp
    }

    private static let tooLate = NotificationIntakeError.invalid(
        "A notification expires at most \(days) days after it goes out.")
}
