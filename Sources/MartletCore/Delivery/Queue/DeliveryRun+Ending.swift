import MartletModel

extension DeliveryRun {
    /// How a turn of a delivery ended. In a turn, a delivery sends pages or a round of retries (`DeliveryQueue`).
    enum Ending: Sendable, Equatable {
        case finished
        /// The notification was deleted together with its hub, so nothing is left to do.
        case gone
        /// A page, or a round of retries, is done, and the delivery may have more to send. The delivery waits for its
        /// next turn, so that other deliveries get their turns.
        case yielded
        /// The turn recorded nothing, but the delivery has something to send at once. Its next turn is delayed, to
        /// prevent a busy loop.
        case stalled
        /// The hub is being deleted. The delivery waits until the deletion succeeds or fails, at most until this time.
        case deleting(until: Timestamp)
        /// Nothing is to be done until this time. Then a retry is due, or the notification expires.
        case waiting(until: Timestamp)
        /// Due retries wait for the end of probes of their origins. The delivery waits until the first of these probes
        /// ends (`OriginCircuitBreakers.takeReleased`), at most until this time.
        case probing(until: Timestamp)
        /// The notification is paused or halted. The delivery waits until the control changes, at most until the
        /// notification expires at this time.
        case held(until: Timestamp)
        /// The lane is paused until this time, or until the notification expires.
        case paused(LaneID, until: Timestamp)
        /// The server is shutting down, or another process sends for the hub now.
        case interrupted
        /// Storage failed. The delivery will repeat all work of the turn that was not recorded.
        case failed(StorageError)
    }
}

extension DeliveryRun.Ending {
    /// Returns whether the delivery wants its next turn immediately.
    func asksForTurn(at now: Timestamp) -> Bool {
        switch self {
        case .yielded: true
        case .waiting(let until), .probing(let until), .paused(_, let until), .held(let until): until <= now
        case .finished, .gone, .stalled, .deleting, .interrupted, .failed: false
        }
    }

    var isProbing: Bool { if case .probing = self { true } else { false } }

    /// Returns whether the ending of a turn is outdated, because the control or the presence of the hub has changed
    /// during the turn. The delivery must then have another turn at once.
    func isOutdated(by control: NotificationControl, _ presence: HubDirectory.Presence) -> Bool {
        switch self {
        case .held: !control.isHeld || presence == .absent
        case .waiting, .probing, .paused: control == .canceled || presence == .absent
        case .deleting: presence != .deleting
        case .finished, .gone, .yielded, .stalled, .interrupted, .failed: false
        }
    }
}
