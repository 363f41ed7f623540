public import MartletModel

/// How many devices a notification was meant for, was sent to, reached, and was opened on. Unknown numbers are nil,
/// never 0.
public struct Funnel: Sendable {
    /// The number of devices at each step; for a template send, the number of registrations.
    public struct Steps: Hashable, Sendable {
        /// Devices that the notification was meant for; nil until all pages have been read. If the notification ends
        /// earlier, the number stays unknown.
        public var targeted: Int?
        /// Devices to which a push was sent, successfully or not. The other devices of the audience got none. For
        /// example, there was no suitable message, no push service could send it, or the notification was canceled or
        /// superseded first.
        public var rendered: Int?
        /// Devices whose push was accepted by the push service.
        public var accepted: Int
        /// Devices that reported the notification as received or opened; nil if no app of the platform has ever sent a
        /// receipt for a notification of this hub.
        public var received: Int?
        /// Devices that reported the notification as opened; nil if no app of the platform has ever reported that a
        /// notification of this hub was opened.
        public var opened: Int?

        public init(targeted: Int?, rendered: Int?, accepted: Int, received: Int?, opened: Int?) {
            self.targeted = targeted
            self.rendered = rendered
            self.accepted = accepted
            self.received = received
            self.opened = opened
        }
    }

    public var id: NotificationID
    public var state: NotificationState
    public var platforms: [PlatformID: Steps]
    /// The audience size of a roll-out; nil if it was not counted.
    public var audience: Int?
    /// Whether the notification was canceled before it began.
    public var isWithdrawn = false

    public init(
        id: NotificationID, state: NotificationState, platforms: [PlatformID: Steps], audience: Int? = nil
    ) {
        self.id = id
        self.state = state
        self.platforms = platforms
        self.audience = audience
    }

    init(_ status: SendStatus, _ evidence: FunnelEvidence) {
        id = status.report.notification.id
        state = status.report.state
        audience = status.audience
        isWithdrawn = status.report.isWithdrawn
        platforms = Dictionary(grouping: status.deliveries, by: \.report.platform).reduce(into: [:]) { steps, own in
            steps[own.key] = Steps(own.value, evidence[own.key])
            // The members of a waiting part are not counted yet, so the number is unknown.
            if status.waitingParts > 0 { steps[own.key]?.targeted = nil }
        }
    }

    /// The sum over all platforms. A number that is unknown for one platform is unknown in the sum.
    public var total: Steps {
        func sum(_ step: (Steps) -> Int?) -> Int? {
            platforms.values.reduce(0) { sum, steps in
                guard let sum, let count = step(steps) else { return nil }
                return sum + count
            }
        }
        let hasAny = !platforms.isEmpty
        // A notification that has not begun, or was canceled before it began, has no deliveries. Their sum would be 0,
        // so the number is left unknown instead.
        let targeted = hasAny || (state.isFinal && !isWithdrawn) ? sum(\.targeted) : nil
        return Steps(
            targeted: targeted ?? audience, rendered: sum(\.rendered),
            accepted: platforms.values.reduce(0) { $0 + $1.accepted }, received: hasAny ? sum(\.received) : nil,
            opened: hasAny ? sum(\.opened) : nil)
    }
}

extension Funnel.Steps {
    /// Creates the numbers of one platform.
    /// - Parameter statuses: The deliveries of one platform.
    init(_ statuses: [DeliveryStatus], _ evidence: FunnelEvidence.PlatformCounts) {
        let counts = statuses.reduce(into: [:]) { $0.merge($1.report.counts, uniquingKeysWith: +) }
        let retrying = statuses.reduce(0) { $0 + $1.retrying }
        let ended = counts.reduce(0) { $0 + ($1.key == .skipped ? 0 : $1.value) }
        accepted = counts[.success] ?? 0
        let held = statuses.reduce(0) { $0 + $1.held }
        targeted = statuses.allSatisfy(\.isFannedOut) ? ended + retrying + held : nil
        // Some pushes of `stopped` may also be counted as successes, because the process was killed before it recorded
        // their outcomes. So at most as many are added as pushes were suppressed.
        let suppressed = (counts[.canceled] ?? 0) + (counts[.superseded] ?? 0)
        rendered = accepted + evidence.failed + retrying + min(evidence.stopped, suppressed)
        received = evidence.reported.isEmpty ? nil : evidence.received
        opened = evidence.reported.contains(.opened) ? evidence.opened : nil
    }
}

/// The counts, by platform, that the funnel of a notification needs in addition to the counts of its deliveries.
public struct FunnelEvidence: Sendable {
    /// The counts of one platform.
    public struct PlatformCounts: Hashable, Sendable {
        /// Pushes that were sent and failed permanently.
        public var failed: Int
        /// Pushes that were sent, failed, and are not retried because the notification was canceled or superseded.
        public var stopped: Int
        /// Devices that sent at least one receipt for the notification.
        public var received: Int
        public var opened: Int
        /// The kinds of events that devices of the platform have ever reported for a notification of the hub.
        public var reported: Set<Receipt.Event>

        public init(
            failed: Int = 0, stopped: Int = 0, received: Int = 0, opened: Int = 0,
            reported: Set<Receipt.Event> = []
        ) {
            self.failed = failed
            self.stopped = stopped
            self.received = received
            self.opened = opened
            self.reported = reported
        }
    }

    public var platforms: [PlatformID: PlatformCounts]

    public init(platforms: [PlatformID: PlatformCounts] = [:]) {
        self.platforms = platforms
    }

    subscript(platform: PlatformID) -> PlatformCounts { platforms[platform] ?? PlatformCounts() }
}

/// Reads the counts for funnels from the store.
public protocol FunnelStore: Sendable {
    /// Returns the counts for the funnel of a notification, by platform; empty if the hub has no notification with this
    /// id.
    func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence
}

/// Creates the funnel of a notification from its state and from the counts of `FunnelStore`.
public struct Funnels: Sendable {
    private let store: any ControlStore & FunnelStore

    public init(store: any ControlStore & FunnelStore) {
        self.store = store
    }

    /// Returns the funnel of a notification; nil if the hub has no notification with this id.
    public func funnel(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> Funnel? {
        guard let status = try await store.status(id, in: hub) else { return nil }
        return Funnel(status, try await store.funnelEvidence(of: id, in: hub))
    }
}
