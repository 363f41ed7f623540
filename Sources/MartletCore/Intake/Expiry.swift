public import MartletModel

/// When a notification is given up, as its sender says it.
public enum Expiry: Hashable, Sendable {
    case at(Timestamp)
    /// So long after it goes out.
    case after(Duration)

    /// How long after it goes out a notification may be tried.
    public static let limit: Duration = .seconds(days * 86_400)
    private static let days: Int64 = 28

    /// That of a push which is of no use without something that is kept until a given time.
    public static func until(_ timestamp: Timestamp, at now: Timestamp) -> Expiry {
        .after(min(max(timestamp - now, .milliseconds(1)), limit))
    }

    /// - Parameter start: When the notification goes out.
    /// - Throws: `.invalid` where nothing could be sent before it, or for longer than `limit`.
    func timestamp(from start: Timestamp) throws(NotificationIntakeError) -> Timestamp {
        let timestamp: Timestamp
        switch self {
        case .at(let stated): timestamp = stated
        case .after(let duration):
            // A length beyond the limit may be beyond all time.
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
