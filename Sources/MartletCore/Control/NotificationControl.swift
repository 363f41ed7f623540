/// What an operator wishes of a notification, kept with it: it holds for all its deliveries.
public enum NotificationControl: String, Hashable, Sendable {
    /// It goes out. Becomes `paused`, `halted` or `canceled`.
    case running
    /// Nothing of it is sent until somebody says so. Becomes `running` or `canceled`.
    case paused
    /// It has paused itself because too much of it failed. Becomes `running` or `canceled`.
    case halted
    /// Devices that have not been sent it by now do not get it.
    case canceled

    /// Whether it stands still.
    public var isHeld: Bool { self == .paused || self == .halted }

    /// What it becomes by a wish; nil where it is too late for that.
    /// - Parameter hasEnded: Whether the notification is over.
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

/// What is to become of a notification under way.
public enum ControlRequest: String, Hashable, Sendable {
    case cancel, pause, resume
    /// That of its roll-out: nobody asks for it.
    case halt
}
