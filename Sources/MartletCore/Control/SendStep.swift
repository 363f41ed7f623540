/// The next step of a delivery, decided before every page.
enum SendStep: Equatable {
    /// The server is shutting down, so everything stops.
    case interrupt
    /// Nothing more is sent, and the delivery ends in the given state. Neither further pages nor retries are sent.
    case giveUp(NotificationState)
    /// Nothing is sent until the control changes.
    case hold
    /// The next page is sent. In a roll-out, retries that are due are sent first.
    case fanOut
    /// The due retries are sent.
    case retry
    /// Nothing is sent until the lease of this process is renewed (`SendingLease`).
    case awaitLease

    var givesUp: Bool {
        if case .giveUp = self { true } else { false }
    }

    /// Whether pushes are sent in this step.
    var sends: Bool { self == .fanOut || self == .retry }

    /// Returns the next step of a delivery.
    /// - Parameters:
    ///   - isFannedOut: Whether all pages were sent.
    ///   - hasExpired: Whether the delivery has expired, so that its undelivered pushes are given up.
    ///   - isInterrupted: Whether the server is shutting down.
    static func next(
        isFannedOut: Bool, control: NotificationControl, hasExpired: Bool, isInterrupted: Bool
    ) -> SendStep {
        if isInterrupted { return .interrupt }
        if control == .canceled { return .giveUp(.canceled) }
        if hasExpired { return .giveUp(.abandoned) }
        if control.isHeld { return .hold }
        return isFannedOut ? .retry : .fanOut
    }
}
