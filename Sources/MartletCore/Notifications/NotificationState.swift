/// The state of a notification. The raw values are the names of the Notification Hubs protocol (NotificationHubs.md,
/// section 8.2).
public enum NotificationState: String, Hashable, Sendable {
    case enqueued = "Enqueued"
    case processing = "Processing"
    case completed = "Completed"
    case noTargetFound = "NoTargetFound"
    case abandoned = "Abandoned"
    /// The notification is scheduled; a delivery is never in this state.
    case scheduled = "Scheduled"
    case canceled = "Canceled"

    /// Whether the state will no longer change.
    public var isFinal: Bool {
        switch self {
        case .completed, .noTargetFound, .abandoned, .canceled: true
        case .enqueued, .processing, .scheduled: false
        }
    }

    /// Creates the state of a notification that has begun.
    /// - Parameters:
    ///   - platforms: The states of the notification's deliveries, grouped by platform. A platform has several
    ///     deliveries if the notification has parts.
    ///   - hasWaitingParts: Whether a part of the notification has not begun.
    init(ofPlatforms platforms: [[NotificationState]], isCanceled: Bool, hasWaitingParts: Bool = false) {
        let states = platforms.joined()
        guard states.allSatisfy(\.isFinal), !hasWaitingParts else {
            self = states.allSatisfy { $0 == .enqueued } ? .enqueued : .processing
            return
        }
        let ends = platforms.map(Self.init(ofEndedParts:))
        self =
            isCanceled ? .canceled : [.completed, .abandoned, .canceled].first(where: ends.contains) ?? .noTargetFound
    }

    /// Creates the state of a notification on one platform from the states of its parts on that platform, which have
    /// all ended. The state is `completed` only if no part was given up.
    private init(ofEndedParts states: [NotificationState]) {
        self = [.canceled, .abandoned, .completed].first(where: states.contains) ?? .noTargetFound
    }
}
