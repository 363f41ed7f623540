public import MartletCore
public import MartletModel

/// The server's figures at one time: counters since the start of the process, and states.
public struct ConsoleSample: Sendable {
    /// The expiry of a credential, if it is known.
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

    public var at: Timestamp
    /// Pushes that push services have accepted, by platform.
    public var taken: [String: Int] = [:]
    /// Pushes that have failed, by platform.
    public var failed: [String: Int] = [:]
    /// Pushes that were refused because a credential is wrong.
    public var wrongCredentials = 0
    /// From acceptance to the wire, on all platforms.
    public var latency = Histogram(bounds: DeliveryMetrics.latencyBounds)
    /// From the first change of a transaction until it is on disk.
    public var commit: Histogram?
    /// Deliveries that are not finished.
    public var waiting = 0
    /// The age of the oldest of them, in seconds.
    public var oldest = 0.0
    /// Connections to push services, by platform.
    public var connections: [String: Int] = [:]
    public var pausedLanes: [String: Int] = [:]
    public var pausedOrigins: [String: Int] = [:]
    public var quarantines: [String: Int] = [:]
    /// The time that each event loop was at work, in seconds.
    public var loopBusy: [Double] = []
    public var credentialEnds: [CredentialEnd] = []
    public var certificateEndsAt: Timestamp?
    /// When the last backup was made; nil for never.
    public var backupAt: Timestamp?
    /// When the server began to need a backup; nil if it does not yet.
    public var needsBackupSince: Timestamp?
    /// The free bytes on the disk of the data directory, and the reserve below which nothing new is accepted.
    public var disk: (free: Int64, reserve: Int64)?
    /// The reason why the server accepts no work; nil if it does.
    public var obstacle: String?

    public init(at: Timestamp) {
        self.at = at
    }
}

/// The source of the server's figures for the console.
public protocol ConsoleFacts: Sendable {
    func sample() async -> ConsoleSample
}
