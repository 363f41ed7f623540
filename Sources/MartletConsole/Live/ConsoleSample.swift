public import MartletCore
public import MartletModel

/// The server's figures at one time: counters that began at 0 when the process started, and current values such as the
/// number of connections.
public struct ConsoleSample: Sendable {
    /// The time when a credential expires.
    public struct CredentialEnd: Hashable, Sendable {
        public var hub: String
        public var platform: String
        public var at: Timestamp

        public init(hub: String, platform: String, at: Timestamp) {
            self.hub = hub
            self.platform = platform
            self.at = at
        }
    }

    /// A platform of a hub.
    public struct Lane: Hashable, Sendable {
        public var hub: String
        public var platform: String

        public init(hub: String, platform: String) {
            self.hub = hub
            self.platform = platform
        }
    }

    /// A platform of a hub with at least one origin to which no push gets through.
    public struct FailingService: Hashable, Sendable {
        /// The pushes that wait for another attempt, to any origin of the platform.
        public struct Waiting: Hashable, Sendable {
            public var pushes: Int
            /// Whether there may be more pushes than were counted.
            public var isPartial: Bool
            /// The number of notifications that these pushes belong to.
            public var notifications: Int
            /// When the first of these notifications expires.
            public var firstExpiry: Timestamp
            /// The time of the next attempt.
            public var next: Timestamp

            public init(
                pushes: Int, isPartial: Bool, notifications: Int, firstExpiry: Timestamp, next: Timestamp
            ) {
                self.pushes = pushes
                self.isPartial = isPartial
                self.notifications = notifications
                self.firstExpiry = firstExpiry
                self.next = next
            }
        }

        public var hub: String
        public var platform: String
        /// The origin with the most failed pushes.
        public var origin: String
        /// The number of origins that fail.
        public var origins: Int
        public var since: Timestamp
        public var lastAt: Timestamp
        /// The number of attempts that have failed since the time `since`.
        public var attempts: Int
        /// The HTTP status of the last answer; nil if there was no answer.
        public var status: Int?
        /// The push service's own name for the error in its last answer. If there was no such name, Martlet's name for
        /// the outcome.
        public var reason: String
        /// Whether no push gets through to any origin of the platform.
        public var isWholeLane: Bool
        /// The pushes that wait for another attempt; nil if there are none.
        public var waiting: Waiting?

        public init(
            hub: String, platform: String, origin: String, origins: Int, since: Timestamp, lastAt: Timestamp,
            attempts: Int, status: Int?, reason: String, isWholeLane: Bool, waiting: Waiting?
        ) {
            self.hub = hub
            self.platform = platform
            self.origin = origin
            self.origins = origins
            self.since = since
            self.lastAt = lastAt
            self.attempts = attempts
            self.status = status
            self.reason = reason
            self.isWholeLane = isWholeLane
            self.waiting = waiting
        }
    }

    public var at: Timestamp
    /// The number of pushes that push services have accepted, by platform.
    public var taken: [String: Int] = [:]
    /// The number of pushes that have failed, by platform.
    public var failed: [String: Int] = [:]
    /// The number of requests for pushes that were handed to the transport, by platform.
    public var attempts: [String: Int] = [:]
    /// The number of requests in `attempts` that failed because of the push service or the network and are repeated, by
    /// platform.
    public var failedAttempts: [String: Int] = [:]
    /// The number of pushes that were refused because a credential is wrong, or because a device token is wrong for the
    /// app, by platform.
    public var wrongCredentials: [String: Int] = [:]
    /// The times from the acceptance of a notification, or from its due time, until its pushes are handed to the
    /// transport, on all platforms.
    public var latency = Histogram(bounds: DeliveryMetrics.latencyBounds)
    /// The times from the moment when the writer begins a transaction until the transaction is on disk; nil if unknown.
    public var commit: Histogram?
    /// The number of notifications with unfinished deliveries.
    public var waiting = 0
    /// The age of the oldest unfinished delivery, in seconds.
    public var oldest = 0.0
    /// The number of connections to push services, by platform.
    public var connections: [String: Int] = [:]
    /// The lanes whose credential cannot be used, or is refused by the push service. Nothing is sent in these lanes
    /// until the credential is replaced.
    public var refusedCredentials: [Lane] = []
    public var failingServices: [FailingService] = []
    /// The paused lanes that are in neither `refusedCredentials` nor `failingServices`.
    public var pausedLanes: Set<Lane> = []
    /// The number of paused origins that are not in `failingServices`, by lane.
    public var pausedOrigins: [Lane: Int] = [:]
    /// The number of quarantines, by lane.
    public var quarantines: [Lane: Int] = [:]
    /// The total time that each event loop was busy, in seconds.
    public var loopBusy: [Double] = []
    public var credentialEnds: [CredentialEnd] = []
    public var certificateEndsAt: Timestamp?
    /// When the last backup was made; nil if none was ever made.
    public var backupAt: Timestamp?
    /// When the database was first opened; nil if unknown. From then on the server needs backups.
    public var needsBackupSince: Timestamp?
    /// The free bytes on the disk of the data directory, and the reserve in bytes.
    ///
    /// When less than the reserve is free, no new data is accepted.
    public var disk: (free: Int64, reserve: Int64)?
    /// The reason why the server accepts no work; nil if it accepts work.
    public var obstacle: String?

    public init(at: Timestamp) {
        self.at = at
    }
}

/// Reads the server's figures for the console.
public protocol ConsoleFacts: Sendable {
    func sample() async -> ConsoleSample
}
