/// Decides what a delivery does before every page.
enum SendStep: Equatable {
    /// The server is shutting down: everything stops.
    case interrupt
    /// Nothing more is sent, neither to members that no page has reached nor as retries. Then the delivery ends.
    case giveUp(NotificationState)
    /// Nothing until the control changes.
    case hold
    /// The next page, or due retries if the notification is a roll-out.
    case fanOut
    /// The due retries.
    case retry

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
