/// The next step of a delivery, decided before every page.
enum SendStep: Equatable {
    /// The server is shutting down: everything stops.
    case interrupt
    /// Nothing more is sent, neither to members that no page has reached nor as retries; then the delivery ends.
    case giveUp(NotificationState)
    /// Nothing is sent until the control changes.
    case hold
    /// The next page is sent, or due retries if the notification is a roll-out.
    case fanOut
    /// The due retries are sent.
    case retry

    var givesUp: Bool {
        if case .giveUp = self { true } else { false }
    }

    /// - Parameters:
    ///   - isFannedOut: Whether all pages were sent.
    ///   - hasExpired: Whether undelivered pushes are to be given up.
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
