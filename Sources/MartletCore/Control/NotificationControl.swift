/// The control of a notification. It applies to all deliveries of the notification and is stored with it.
public enum NotificationControl: String, Hashable, Sendable {
    /// The notification is being sent. The next control is `paused`, `halted` or `canceled`.
    case running
    /// Nothing is sent until the notification is resumed. The next control is `running` or `canceled`.
    case paused
    /// The roll-out has paused itself because too many pushes failed. The next control is `running` or `canceled`.
    case halted
    /// Nothing more is sent; devices that were not reached before do not get the notification.
    case canceled

    /// Whether sending is suspended.
    public var isHeld: Bool { self == .paused || self == .halted }

    /// The control as it is shown to people; nil for a notification that has ended, since it can be neither paused nor
    /// halted any more. One that was canceled remains so.
    /// - Parameter state: The state of the notification.
    public func shown(in state: NotificationState) -> NotificationControl? {
        state.isFinal && self != .canceled ? nil : self
    }

    /// The control after a request; nil if it is too late for the request.
    /// - Parameter hasEnded: Whether the notification has ended.
    public func after(_ wish: ControlRequest, hasEnded: Bool) -> NotificationControl? {
        if self == .canceled { return wish == .cancel ? .canceled : nil }
        guard !hasEnded else { return nil }
        return switch wish {
        case .cancel: .canceled
        case .resume: .running
        // A pause that was requested meanwhile stays.
        case .release: self
        case .pause: isHeld ? self : .paused
        case .halt: isHeld ? self : .halted
        }
    }
}

/// A request to change a notification's control.
public enum ControlRequest: String, Hashable, Sendable {
    case cancel, pause, resume
    /// Stops the roll-out. Requested by the roll-out itself, never by a user.
    case halt
    /// Releases the rest of a canary. Requested by the canary itself when its wait is over, never by a user.
    case release
}
