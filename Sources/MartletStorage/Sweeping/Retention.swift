import MartletCore

/// The times for which storage keeps data that has ended, and the limits of its amount.
public struct Retention: Hashable, Sendable {
    /// The time for which a request for the id of a removed registration is answered with "gone".
    public var tombstones: Duration
    /// The maximum number of ids of removed registrations; the oldest are removed first.
    public var tombstoneLimit: Int
    /// The time for which a notification is kept after its end, with its outcome on every device.
    public var notifications: Duration
    /// The maximum number of former states of registrations; the oldest are removed first.
    public var historyLimit: Int
    /// The time for which records of reads and refused reads of payloads are kept.
    public var audit: Duration
    /// The maximum number of records of refusals; the oldest are removed first.
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

    /// The time for which the former states of registrations are kept: at least as long as any notification is kept
    /// that was in progress when the state ended.
    var history: Duration { notifications + NotificationIntake.lifetime }
}
