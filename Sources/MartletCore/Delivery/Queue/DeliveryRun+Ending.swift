import MartletModel

extension DeliveryRun {
    /// How the turn of a delivery ended.
    enum Ending: Sendable, Equatable {
        case finished
        /// The notification was deleted with its hub: nothing is left to do.
        case gone
        /// A page, or a round of retries, is done and there may be more; other deliveries get their turn.
        case yielded
        /// The turn recorded nothing and asks for another turn at once. The next turn is delayed, to prevent a busy
        /// loop.
        case stalled
        /// The hub is being deleted. The delivery waits for the result of the deletion, at most until this timestamp.
        case deleting(until: Timestamp)
        /// There is nothing to do until this time, when a retry is due or the notification expires.
        case waiting(until: Timestamp)
        /// The delivery is paused or halted until the control changes, or until the notification expires at this time.
        case held(until: Timestamp)
        /// The lane is paused until this time, or until the notification expires.
        case paused(LaneID, until: Timestamp)
        /// The server is shutting down.
        case interrupted
        /// Storage failed; work that was not recorded will be repeated.
        case failed(StorageError)
    }
}

extension DeliveryRun.Ending {
    /// Returns whether the delivery asks for another turn immediately.
    func asksForTurn(at now: Timestamp) -> Bool {
        switch self {
        case .yielded: true
        case .waiting(let until), .paused(_, let until), .held(let until): until <= now
        case .finished, .gone, .stalled, .deleting, .interrupted, .failed: false
        }
    }
}
