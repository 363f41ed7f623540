/// A lane that may send now, with what it sends with.
struct SendContext: Sendable {
    enum Sending: Sendable {
        case by(any PushService)
        /// There is nothing to send with: what every push comes to.
        case refused(Outcome)
    }

    var id: LaneID
    /// nil where the hub has none.
    var credential: Credential?
    var sending: Sending
    /// The lane comes out of a pause: a few pushes of this delivery show whether it is well again.
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
}
