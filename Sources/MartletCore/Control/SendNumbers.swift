/// The number of members of an audience in each state. Once a notification has ended, the numbers in `succeeded`,
/// `failed`, `suppressed` and `skipped` add up to `targeted`.
public struct SendNumbers: Hashable, Sendable {
    /// The number of members of the audience; nil until all pages were sent, unless the audience was counted before.
    /// It stays nil if the notification was canceled before it began.
    public var targeted: Int?
    public var succeeded = 0
    public var failed = 0
    /// Members that were not sent to because the notification was canceled, or because a newer notification replaced
    /// it.
    public var suppressed = 0
    /// Members that were not sent to for another reason, such as devices that the message does not suit. Also counts
    /// registrations that share their channel with a member.
    public var skipped = 0
    /// Members whose pushes have failed and will be tried again.
    public var retrying = 0
    /// Members that have not been sent to yet. Also counts members whose pushes were stopped before their first
    /// attempt, for example by a pause. nil if the number is not known.
    public var pending: Int?

    /// Members that were sent to, successfully or not.
    public var sent: Int { succeeded + failed }

    private var known: Int { sent + suppressed + skipped + retrying }

    /// Creates the sums over some deliveries of a notification. `targeted` and `pending` stay nil until all pages of
    /// these deliveries were sent.
    public init(_ deliveries: [DeliveryStatus]) {
        self.init(counting: deliveries)
        guard deliveries.allSatisfy({ $0.isFannedOut || $0.report.state.isFinal }) else { return }
        let held = deliveries.reduce(0) { $0 + $1.held }
        pending = held
        targeted = known + held
    }

    /// Creates the sums over all deliveries of a notification. Until all pages were sent, `targeted` and `pending` are
    /// computed from the audience size, if the audience was counted.
    public init(_ status: SendStatus) {
        self.init(status.deliveries)
        guard !status.report.isWithdrawn else {
            targeted = nil
            return
        }
        let hasBegun = status.report.state.isFinal || !status.deliveries.isEmpty
        guard targeted == nil || status.waitingParts > 0 || !hasBegun else { return }
        (targeted, pending) = (nil, nil)
        if let audience = status.audience {
            pending = max(0, audience - sent - suppressed - retrying)
            targeted = known + (pending ?? 0)
        }
    }

    private init(counting deliveries: [DeliveryStatus]) {
        for delivery in deliveries {
            let counts = SendCounts(delivery.report.counts)
            succeeded += counts.succeeded
            failed += counts.failed
            suppressed += (delivery.report.counts[.canceled] ?? 0) + (delivery.report.counts[.superseded] ?? 0)
            skipped += delivery.report.counts[.skipped] ?? 0
            retrying += delivery.retrying
        }
    }
}
