/// The control of a notification. The control applies to all deliveries of the notification and is stored with the
/// notification.
public enum NotificationControl: String, Hashable, Sendable {
    /// The default: the notification is sent once it is due. The next control is `paused`, `halted` or `canceled`.
    case running
    /// Nothing is sent until the notification is resumed. The next control is `running` or `canceled`.
    case paused
    /// The roll-out has paused itself because too many pushes failed. The next control is `running` or `canceled`.
    case halted
    /// Nothing more is sent; devices that were not reached before do not get the notification.
    case canceled

    /// Whether the notification is paused or halted, so that nothing is sent for now.
    public var isHeld: Bool { self == .paused || self == .halted }

    /// Returns the control to show to people. For a notification that has ended, only `canceled` is shown. Returns nil
    /// for any other control of such a notification, because it can be neither paused nor halted any more.
    /// - Parameter state: The state of the notification.
    public func shown(in state: NotificationState) -> NotificationControl? {
        state.isFinal && self != .canceled ? nil : self
    }

    /// Returns the control after a request; nil if it is too late for the request.
    /// - Parameter hasEnded: Whether the notification has ended.
    public func after(_ wish: ControlRequest, hasEnded: Bool) -> NotificationControl? {
        if self == .canceled { return wish == .cancel ? .canceled : nil }
        guard !hasEnded else { return nil }
        return switch wish {
        case .cancel: .canceled
        case .resume: .running
        // If the notification was paused by a request in the meantime, it stays paused, and the release changes
        // nothing.
        case .release: self
        case .pause: isHeld ? self : .paused
        case .halt: isHeld ? self : .halted
        }
    }
}

/// A request to change a notification's control.
public enum ControlRequest: String, Hashable, Sendable {
    case cancel, pause, resume
    /// Halts the roll-out. Only the roll-out itself requests this, never a caller of the API.
    case halt
    /// Releases the rest of a canary. Only the canary itself requests this when its wait is over, never a caller of the
    /// API.
    case release
}
