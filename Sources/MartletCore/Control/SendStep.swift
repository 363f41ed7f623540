/// What a delivery does next: a pure decision, taken before every page.
enum SendStep: Equatable {
    /// The server is shutting down: everything stops where it is.
    case interrupt
    /// Those whose turn has not come, and those who are tried again, are sent nothing more. Then it is over.
    case giveUp(NotificationState)
    /// Nothing until something else is requested.
    case hold
    /// The next page; of a roll-out the retries that are due, where there are some.
    case fanOut
    /// The retries that are due.
    case retry

    /// - Parameters:
    ///   - isFannedOut: Whether everybody's turn has come.
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
