/// The push service and the credential with which a page can be sent in a lane that is not paused. If the lane has no
/// push service or no credential, the context contains the outcome of all pushes instead.
struct SendContext: Sendable {
    enum Sending: Sendable {
        case by(any PushService)
        /// Nothing can be sent in the lane. Every push gets this outcome.
        case refused(Outcome)
    }

    var id: LaneID
    /// The hub's credential; nil if the hub has none.
    var credential: Credential?
    var sending: Sending
    /// Whether the page is the probe of a paused lane. The few pushes of the probe show whether the lane works again.
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

    /// Whether the push service limits how many messages it takes in a given time (`PushService.pace`).
    var hasSendingRate: Bool {
        if case .by(let service) = sending { service.pace != nil } else { false }
    }
}
