/// What is needed to send a page in a lane that is not paused: the push service and the credential of the lane. If the
/// lane has no push service or no credential, the context contains the outcome of all pushes instead.
struct SendContext: Sendable {
    enum Sending: Sendable {
        case by(any PushService)
        /// The lane cannot send; every push gets this outcome.
        case refused(Outcome)
    }

    var id: LaneID
    /// The hub's credential; nil if the hub has none.
    var credential: Credential?
    var sending: Sending
    /// Whether the page is the probe of a paused lane, whose few pushes show whether the lane works again.
    var isProbe: Bool

    init(_ id: LaneID, _ credential: Credential?, _ sending: Sending, isProbe: Bool = false) {
        self.id = id
        self.credential = credential
        self.sending = sending
        self.isProbe = isProbe
    }

    var sendsAnything: Bool {
        if case .by = sending { true } else { false }
    }

    /// Whether the push service limits how many messages it takes (`PushService.pace`).
    var hasSendingRate: Bool {
        if case .by(let service) = sending { service.pace != nil } else { false }
    }
}
