/// The state of a notification, with the names of the hub's protocol (NotificationHubs.md, section 8.2).
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
    /// - Parameter hasWaitingParts: Whether a part of the notification has not begun.
    init(ofDeliveries states: [NotificationState], isCanceled: Bool, hasWaitingParts: Bool = false) {
        if states.allSatisfy(\.isFinal), !hasWaitingParts {
            self = isCanceled ? .canceled : [.completed, .abandoned].first(where: states.contains) ?? .noTargetFound
        } else {
            self = states.allSatisfy { $0 == .enqueued } ? .enqueued : .processing
        }
    }
}
