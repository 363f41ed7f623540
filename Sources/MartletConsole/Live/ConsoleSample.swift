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

    /// A hub's credential that its push service refuses, or that is not usable: nothing is sent until it is replaced.
    public struct RefusedCredential: Hashable, Sendable {
        public var hub: String
        public var platform: String

        public init(hub: String, platform: String) {
            self.hub = hub
            self.platform = platform
        }
    }

    public var at: Timestamp
    /// The number of pushes that push services have accepted, by platform.
    public var taken: [String: Int] = [:]
    /// The number of pushes that have failed, by platform.
    public var failed: [String: Int] = [:]
    /// The number of pushes that were refused because a credential is wrong, or because a device token is wrong for the
    /// app, by platform.
    public var wrongCredentials: [String: Int] = [:]
    /// The times from the acceptance of a notification, or from its due time, until its pushes are handed to the
    /// transport, on all platforms.
    public var latency = Histogram(bounds: DeliveryMetrics.latencyBounds)
    /// The times from the start of the writer on a transaction until the transaction is on disk; nil if unknown.
    public var commit: Histogram?
    /// The number of unfinished deliveries.
    public var waiting = 0
    /// The age of the oldest unfinished delivery, in seconds.
    public var oldest = 0.0
    /// The number of connections to push services, by platform.
    public var connections: [String: Int] = [:]
    public var refusedCredentials: [RefusedCredential] = []
    /// The number of other paused lanes, by platform.
    public var pausedLanes: [String: Int] = [:]
    public var pausedOrigins: [String: Int] = [:]
    public var quarantines: [String: Int] = [:]
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
