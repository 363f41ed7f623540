public import MartletModel

/// When a notification expires, as stated by its sender.
public enum Expiry: Hashable, Sendable {
    case at(Timestamp)
    /// This long after the notification is due.
    case after(Duration)

    /// The latest expiry after a notification is due.
    public static let limit: Duration = .seconds(days * 86_400)
    private static let days: Int64 = 28

    /// The expiry of a push that is useless without data that is kept until `timestamp`.
    public static func until(_ timestamp: Timestamp, at now: Timestamp) -> Expiry {
        .after(min(max(timestamp - now, .milliseconds(1)), limit))
    }

    /// - Parameter start: When the notification is due.
    /// - Throws: `.invalid` if the expiry is before that, or later than `limit` allows.
    func timestamp(from start: Timestamp) throws(NotificationIntakeError) -> Timestamp {
        let timestamp: Timestamp
        switch self {
        case .at(let stated): timestamp = stated
        case .after(let duration):
            // A longer duration could overflow the timestamp.
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
