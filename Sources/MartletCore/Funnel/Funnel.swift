public import MartletModel

/// How far a notification came, from those it was for to those who opened it. What nobody can know is nil and never 0.
public struct Funnel: Sendable {
    /// How many devices came how far; a template send counts registrations.
    public struct Steps: Hashable, Sendable {
        /// Whom it was for; nil until everybody's turn has come, and where it never did.
        public var targeted: Int?
        /// For whom a request was made: there was something to send, and somebody to send it by.
        public var rendered: Int?
        /// Whose push service has taken it.
        public var accepted: Int
        /// Who said that it arrived, or was opened; nil where no app of the platform has ever said so in the hub.
        public var received: Int?
        /// Who said that it was opened; nil as above.
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
    /// The devices of a roll-out, where they were counted.
    public var audience: Int?

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
        platforms = Dictionary(
            status.deliveries.map { ($0.report.platform, Steps($0, evidence[$0.report.platform])) }
        ) { first, _ in first }
    }

    /// All platforms together. What is unknown of one is unknown of all.
    public var total: Steps {
        func sum(_ step: (Steps) -> Int?) -> Int? {
            platforms.values.reduce(0) { sum, steps in
                guard let sum, let count = step(steps) else { return nil }
                return sum + count
            }
        }
        let hasAny = !platforms.isEmpty
        // What waits for its time has come to no platform yet.
        let targeted = hasAny || state.isFinal ? sum(\.targeted) : nil
        return Steps(
            targeted: targeted ?? audience, rendered: sum(\.rendered),
            accepted: platforms.values.reduce(0) { $0 + $1.accepted }, received: hasAny ? sum(\.received) : nil,
            opened: hasAny ? sum(\.opened) : nil)
    }
}

extension Funnel.Steps {
    init(_ status: DeliveryStatus, _ evidence: FunnelEvidence.Part) {
        let counts = status.report.counts
        let ended = counts.reduce(0) { $0 + ($1.key == .skipped ? 0 : $1.value) }
        accepted = counts[.success] ?? 0
        targeted = status.isFannedOut ? ended + status.retrying + status.held : nil
        // What a kill kept from being recorded may have reached some that seem to be left out.
        let suppressed = (counts[.canceled] ?? 0) + (counts[.superseded] ?? 0)
        rendered = accepted + evidence.failed + status.retrying + min(evidence.stopped, suppressed)
        received = evidence.reported.isEmpty ? nil : evidence.received
        opened = evidence.reported.contains(.opened) ? evidence.opened : nil
    }
}

/// What is known of a notification besides its deliveries' state, by platform.
public struct FunnelEvidence: Sendable {
    public struct Part: Hashable, Sendable {
        /// Pushes that were made, and did not arrive.
        public var failed: Int
        /// Pushes that were made, did not arrive, and are not made again: it was canceled, or a newer one took its place.
        public var stopped: Int
        /// Devices that sent any receipt.
        public var received: Int
        public var opened: Int
        /// What devices of the platform have ever said in the hub.
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

    public var parts: [PlatformID: Part]

    public init(parts: [PlatformID: Part] = [:]) {
        self.parts = parts
    }

    subscript(platform: PlatformID) -> Part { parts[platform] ?? Part() }
}

/// Counts what funnels are made of.
public protocol FunnelStore: Sendable {
    /// What is known of a notification by platform; empty where the hub has none of this id.
    func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence
}

/// Answers how far notifications came.
public struct Funnels: Sendable {
    private let store: any ControlStore & FunnelStore

    public init(store: any ControlStore & FunnelStore) {
        self.store = store
    }

    /// nil where the hub has no notification of this id.
    public func funnel(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> Funnel? {
        guard let status = try await store.status(id, in: hub) else { return nil }
        return Funnel(status, try await store.funnelEvidence(of: id, in: hub))
    }
}
