/// Limits, in time and in number, on old data in storage, such as ended notifications and the ids of removed
/// registrations.
public struct Retention: Hashable, Sendable {
    /// How long requests for a removed registration are answered with "gone".
    public var tombstones: Duration
    /// The maximum number of ids of removed registrations, in all hubs; the oldest are removed first.
    public var tombstoneLimit: Int
    /// The time for which a notification is kept after its end, with its outcome on every device.
    public var notifications: Duration
    /// The maximum number of former states of registrations; the oldest are removed first.
    public var historyLimit: Int
    /// The time for which the audit of payloads is kept: the records of reads and of refused reads.
    public var audit: Duration
    /// The maximum number of records of refused reads of payloads; the oldest are removed first.
    public var refusalLimit: Int

    public init(
        tombstones: Duration = .seconds(90 * 86_400), tombstoneLimit: Int = 1_000_000,
        notifications: Duration = .seconds(30 * 86_400), historyLimit: Int = 5_000_000,
        audit: Duration = .seconds(90 * 86_400), refusalLimit: Int = 100_000
    ) {
        self.tombstones = tombstones
        self.tombstoneLimit = tombstoneLimit
        self.notifications = notifications
        self.historyLimit = historyLimit
        self.audit = audit
        self.refusalLimit = refusalLimit
    }

    /// The time for which the former states of registrations are kept: the retention of notifications plus the default
    /// lifetime of a notification. A trace reads the states that registrations had while the notification was in
    /// progress, so a notification with a longer lifetime keeps the states since its beginning.
    public var history: Duration { notifications + NotificationIntake.lifetime }
}
