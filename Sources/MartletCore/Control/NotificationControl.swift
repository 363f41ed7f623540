/// The control of a notification. It holds for all its deliveries and is stored with it.
public enum NotificationControl: String, Hashable, Sendable {
    /// Is sent. Becomes `paused`, `halted` or `canceled`.
    case running
    /// Nothing is sent until it is resumed. Becomes `running` or `canceled`.
    case paused
    /// Has paused itself because too many pushes failed. Becomes `running` or `canceled`.
    case halted
    /// Devices that were not sent to before do not get it.
    case canceled

    /// Whether sending is suspended.
    public var isHeld: Bool { self == .paused || self == .halted }

    /// The control after a request; nil if it is too late for the request.
    /// - Parameter hasEnded: Whether the notification has ended.
    public func after(_ wish: ControlRequest, hasEnded: Bool) -> NotificationControl? {
        if self == .canceled { return wish == .cancel ? .canceled : nil }
        guard !hasEnded else { return nil }
        return switch wish {
        case .cancel: .canceled
        case .resume: .running
        case .pause: isHeld ? self : .paused
        case .halt: isHeld ? self : .halted
        }
    }
}

/// A change of control that is requested.
public enum ControlRequest: String, Hashable, Sendable {
    case cancel, pause, resume
    /// Requested by the roll-out itself, never by a user.
    case halt
}
