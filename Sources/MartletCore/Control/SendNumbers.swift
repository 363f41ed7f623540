/// How many members of an audience are in which state. What is over adds up to `targeted`.
public struct SendNumbers: Hashable, Sendable {
    /// Members of the audience; nil while not everybody's turn has come and nobody has counted them.
    public var targeted: Int?
    public var succeeded = 0
    public var failed = 0
    /// To whom nothing was sent because it was canceled, or because a newer one took its place.
    public var suppressed = 0
    /// To whom nothing was sent for another reason: duplicates, or devices that take no such message.
    public var skipped = 0
    /// Who is tried again.
    public var retrying = 0
    /// Whose turn has not come, or who was held back when it had; nil while that is not known.
    public var pending: Int?

    /// Who was sent to, with success or without.
    public var sent: Int { succeeded + failed }

    private var known: Int { sent + suppressed + skipped + retrying }

    public init(_ delivery: DeliveryStatus) {
        self.init(counting: [delivery])
        guard delivery.isFannedOut || delivery.report.state.isFinal else { return }
        pending = delivery.held
        targeted = known + delivery.held
    }

    /// The numbers of all deliveries together.
    public init(_ status: SendStatus) {
        self.init(counting: status.deliveries)
        let parts = status.deliveries.map { SendNumbers($0) }
        if parts.allSatisfy({ $0.targeted != nil }), status.report.state.isFinal || !parts.isEmpty {
            pending = parts.reduce(0) { $0 + ($1.pending ?? 0) }
            targeted = known + (pending ?? 0)
        } else if let audience = status.audience {
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
