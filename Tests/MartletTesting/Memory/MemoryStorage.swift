public import MartletCore
import MartletModel
import Synchronization

/// Implements the storage ports in memory, for tests. It is slow and simple, and meets the same requirements as the
/// real storages (`StorageConformance`).
public final class MemoryStorage: Sendable {
    /// The bodies of payloads.
    public let payloadBodies: PayloadBodies
    let state: Mutex<MemoryState>
    private let interruption = Mutex<(@Sendable () async -> Void)?>(nil)

    /// - Parameter isShared: Whether other processes may go on with deliveries, so that the storage keeps which members
    ///   running deliveries have reached.
    public convenience init(isShared: Bool = false) {
        var state = MemoryState()
        state.isShared = isShared
        self.init(state)
    }

    /// Returns the storage as the next process would find it if this process were killed now, but without bodies of
    /// payloads.
    public func copy() -> MemoryStorage { MemoryStorage(state.withLock { $0 }) }

    /// Returns the number of entries that are stored for a hub.
    public func rowCount(of hub: Hub.ID) -> Int {
        state.withLock { state in
            let parts = [
                state.channels.count { $0.hub == hub }, state.registrations.count { $0.hub == hub },
                state.formerChannels.count { $0.hub == hub },
                state.history.count { $0.hub == hub }, state.tombstones.count { $0.hub == hub },
                state.installations.keys.count { $0.hub == hub },
                state.notifications.count { $0.notification.hub == hub },
                state.deliveries.count { $0.progress.delivery.notification.hub == hub },
                state.pauses.keys.count { $0.hub == hub }, state.quarantines.keys.count { $0.hub == hub },
                state.requests[hub]?.count ?? 0, state.jobs.count { $0.job.hub == hub },
            ]
            return parts.reduce(0, +)
        }
    }

    /// The number of rows of retries that steps have written, and the number of these steps.
    public var retryWrites: (rows: Int, steps: Int) { state.withLock(\.retryWrites) }

    /// Lets something happen between the next look for superseded devices and its answer.
    public func interrupt(_ work: @escaping @Sendable () async -> Void) { interruption.withLock { $0 = work } }

    func beInterrupted() async {
        let work = interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption
        }
        await work?()
    }

    /// Removes all notifications, as a sweep does with notifications that ended long ago.
    public func removeNotifications() {
        state.withLock { state in
            state.notifications = []
            state.deliveries = []
        }
    }

    private init(_ state: MemoryState) {
        self.state = Mutex(state)
        let containers = MemoryContainers()
        _ = containers.createContainer(PayloadBodies.container)
        payloadBodies = PayloadBodies(containers)
    }
}

/// All data of a `MemoryStorage`.
struct MemoryState {
    var isShared = false
    var hubs: [Hub] = []
    var lastHub: Int64 = 0
    var backendHub: Hub.ID?
    var namespaceRules: [AccessRule] = []
    var channels: [MemoryChannel] = []
    /// The removed channels.
    var formerChannels: [MemoryChannel] = []
    var lastChannel: Int64 = 0
    /// The registrations, in the order of their sequence numbers.
    var registrations: [MemoryRegistration] = []
    var lastRegistration: Int64 = 0
    /// The former states of registrations, in the order of the changes, with their hubs.
    var history: [(hub: Hub.ID, version: RegistrationVersion)] = []
    var tombstones: Set<MemoryName> = []
    /// The installations. The handles in the records are not used: the registrations have the current ones.
    var installations: [MemoryName: InstallationRecord] = [:]
    /// Every template, and every set of push variables, that an audience page has contained.
    var templates: [Template] = []
    var variables: [[String: String]] = []
    /// The notifications, in the order of their sequence numbers.
    var notifications: [MemoryNotification] = []
    var lastNotification: Int64 = 0
    /// The deliveries, in the order of their ids.
    var deliveries: [MemoryDelivery] = []
    var lastDelivery: Int64 = 0
    var retryWrites: (rows: Int, steps: Int) = (0, 0)
    var pauses: [LaneID: [LanePause]] = [:]
    var quarantines: [LaneID: Set<String>] = [:]
    var requests: [Hub.ID: [[UInt8]: MemoryRequest]] = [:]
    var sends: [[UInt8]: SendRecord] = [:]
    /// The users, by their names in lower case.
    var users: [String: User] = [:]
    var sessions: [[UInt8]: Session] = [:]
    /// The operators, by their names in lower case.
    var operators: [String: Operator] = [:]
    var operatorFactors: [String: (factor: OperatorFactor, codes: Set<[UInt8]>)] = [:]
    var operatorLinks: [[UInt8]: OperatorLink] = [:]
    var operatorSessions: [[UInt8]: OperatorSession] = [:]
    var operatorActions: [OperatorAction] = []
    var metricHours: [Timestamp: String] = [:]
    /// The jobs, in the order of their creation.
    var jobs: [JobProgress] = []
    var payloads: [PayloadID: MemoryPayload] = [:]
    /// The audit of payloads, in the order of the entries' numbers.
    var audit: [AuditEntry] = []
    /// The device keys, by the registration's sequence number.
    var deviceKeys: [Int64: MemoryDeviceKey] = [:]
    var receipts: [MemoryReceiptKey: DeviceReceipt] = [:]
    /// For each receipt of a notification, the platform of the device that sent the receipt.
    var receiptPlatforms: [MemoryReceiptKey: PlatformID] = [:]
}

/// The id of a registration or an installation within its hub.
struct MemoryName: Hashable {
    var hub: Hub.ID
    var id: String
}

struct MemoryChannel {
    let id: ChannelID
    let hub: Hub.ID
    let platform: PlatformID
    var handle: PushHandle
    var key: String
    var registeredAt: Timestamp
    var isSuspected = false
}

struct MemoryRegistration {
    let sequence: Int64
    let hub: Hub.ID
    var channel: ChannelID
    /// The slot of the registration in its installation; nil if it belongs to none.
    var slot: String?
    /// The registration. Its handle may be outdated; `MemoryState.shown` returns it with the channel's handle.
    var registration: Registration

    func isLive(at now: Timestamp) -> Bool {
        registration.expiresAt.map { $0 > now } ?? true
    }
}

struct MemoryNotification {
    var notification: Notification
    var author: SendAuthor?
    var begunAt: Timestamp?
    var control = NotificationControl.running
    var controlledAt: Timestamp?
    var audience: Int?
    var lastSentAt: Timestamp?
    var countedFrom = SendCounts()
    /// The parts that have not begun.
    var waitingParts: [WaitingPart] = []
    var threshold: UInt64?
    var heldAt: Timestamp?
    var releasedAt: Timestamp?
    var isJudged = false

    /// The time when the canary's wait is over; nil if the canary does not hold, or does not continue by itself.
    var canaryDueAt: Timestamp? {
        guard control == .running, releasedAt == nil, !isJudged, let wait = notification.rollout?.wait else {
            return nil
        }
        return heldAt.map { $0 + wait }
    }

    var isWaiting: Bool { begunAt == nil && canceledAt == nil }
    /// The time when a waiting notification begins. A paused one begins when it expires, and then ends at once.
    var beginsAt: Timestamp { control.isHeld ? max(dueAt, notification.expiresAt) : dueAt }
    var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}

struct MemoryDelivery {
    var progress: DeliveryProgress
    var startedAt: Timestamp?
    var endedAt: Timestamp?
    var counts: [OutcomeName: Int] = [:]
    var refusals: [AudienceMember: RefusalRecord] = [:]
    var retries: [AudienceMember: Retry] = [:]
    /// The refusals with their evidence. `refusals` has the records that telemetry shows.
    var refused: [AudienceMember: Refusal] = [:]
    var ranges: [RangeRecord] = []
    var attempts: [Attempt] = []
    /// The blocks of members that were reached, by their indices.
    var reached: [Int64: DeliveredBitmap] = [:]
    var supersedesNone = false
}

/// The notification that was accepted for a request with an identity.
struct MemoryRequest {
    let fingerprint: [UInt8]
    let notification: NotificationID
    let acceptedAt: Timestamp
}

struct MemoryPayload {
    let payload: StoredPayload
    var isPublished = false
    /// The addressees, each with the time when it first read the payload; nil if it has not read the payload.
    var readers: [String: Timestamp?] = [:]
}

/// Identifies a receipt. A device has at most one receipt of each event for one subject.
struct MemoryReceiptKey: Hashable {
    let subject: Receipt.Subject
    /// The hub of a notification; nil for a payload.
    let hub: Hub.ID?
    let device: String
    let event: Receipt.Event
}
