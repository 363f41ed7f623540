public import MartletCore
import MartletModel
import Synchronization

/// The storage ports in memory, for tests: slow, simple and by the same rules as the real storage.
public final class MemoryStorage: Sendable {
    /// Where bodies of payloads are.
    public let payloadBodies: PayloadBodies
    let state: Mutex<MemoryState>

    public convenience init() { self.init(MemoryState()) }

    /// What a kill at this time would leave, but for bodies of payloads.
    public func copy() -> MemoryStorage { MemoryStorage(state.withLock { $0 }) }

    /// How much is kept of a hub.
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

    /// Removes every notification, as a sweep does of those that are long over.
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

/// All that a memory storage holds.
struct MemoryState {
    var hubs: [Hub] = []
    var lastHub: Int64 = 0
    var backendHub: Hub.ID?
    var namespaceRules: [AccessRule] = []
    var channels: [MemoryChannel] = []
    /// Those that are gone.
    var formerChannels: [MemoryChannel] = []
    var lastChannel: Int64 = 0
    /// In the order of their sequence numbers.
    var registrations: [MemoryRegistration] = []
    var lastRegistration: Int64 = 0
    /// What registrations were before they were changed or removed, in the order of the changes, with their hubs.
    var history: [(hub: Hub.ID, version: RegistrationVersion)] = []
    var tombstones: Set<MemoryName> = []
    /// Without the handles, which are those of their registrations.
    var installations: [MemoryName: InstallationRecord] = [:]
    /// Every template and set of push variables that an audience page has shown.
    var templates: [Template] = []
    var variables: [[String: String]] = []
    /// In the order of their sequence numbers.
    var notifications: [MemoryNotification] = []
    var lastNotification: Int64 = 0
    /// In the order of their ids.
    var deliveries: [MemoryDelivery] = []
    var lastDelivery: Int64 = 0
    var pauses: [LaneID: [LanePause]] = [:]
    var quarantines: [LaneID: Set<String>] = [:]
    var requests: [Hub.ID: [[UInt8]: MemoryRequest]] = [:]
    var sends: [[UInt8]: SendRecord] = [:]
    /// By folded name.
    var users: [String: User] = [:]
    var sessions: [[UInt8]: Session] = [:]
    /// By name in lower case.
    var operators: [String: Operator] = [:]
    var operatorFactors: [String: (factor: OperatorFactor, codes: Set<[UInt8]>)] = [:]
    var operatorLinks: [[UInt8]: OperatorLink] = [:]
    var operatorSessions: [[UInt8]: OperatorSession] = [:]
    var operatorActions: [OperatorAction] = []
    var metricHours: [Timestamp: String] = [:]
    /// In the order of their creation.
    var jobs: [JobProgress] = []
    var payloads: [PayloadID: MemoryPayload] = [:]
    /// In the order of their numbers.
    var audit: [AuditEntry] = []
    /// By the registration's sequence number.
    var deviceKeys: [Int64: MemoryDeviceKey] = [:]
    var receipts: [MemoryReceiptKey: DeviceReceipt] = [:]
    /// Of which platform the device of a receipt of a notification was.
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
    /// Where it is a row of an installation.
    var slot: String?
    /// Its handle is the channel's.
    var registration: Registration

    func isLive(at now: Timestamp) -> Bool {
        registration.expiresAt.map { $0 > now } ?? true
    }
}

struct MemoryNotification {
    var notification: Notification
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

    /// When the canary's time to wait is over; nil unless the clock is to judge it.
    var canaryDueAt: Timestamp? {
        guard control == .running, releasedAt == nil, !isJudged, let wait = notification.rollout?.wait else {
            return nil
        }
        return heldAt.map { $0 + wait }
    }

    var isWaiting: Bool { begunAt == nil && canceledAt == nil }
    /// When it can begin, as long as it waits. A paused one begins only to end.
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
    /// What of the evidence telemetry does not show.
    var refused: [AudienceMember: Refusal] = [:]
    var ranges: [RangeRecord] = []
    var attempts: [Attempt] = []
    var reached: [DeliveredBitmap] = []
    var supersedesNone = false
}

/// What was accepted under a key.
struct MemoryRequest {
    let fingerprint: [UInt8]
    let notification: NotificationID
    let acceptedAt: Timestamp
}

struct MemoryPayload {
    let payload: StoredPayload
    var isPublished = false
    /// When each addressee has read it first.
    var readers: [String: Timestamp?] = [:]
}

/// What there is one receipt of.
struct MemoryReceiptKey: Hashable {
    let subject: Receipt.Subject
    /// Of a notification.
    let hub: Hub.ID?
    let device: String
    let event: Receipt.Event
}
