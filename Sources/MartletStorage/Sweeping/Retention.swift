import MartletCore

/// How long storage keeps data that has ended.
public struct Retention: Hashable, Sendable {
    /// How long a request for the id of a removed registration is answered with "gone".
    public var tombstones: Duration
    /// The maximum number of ids of removed registrations; the oldest are removed first.
    public var tombstoneLimit: Int
    /// How long a notification is kept after its end, with its outcome on every device.
    public var notifications: Duration
    /// The maximum number of former states of registrations; the oldest are removed first.
    public var historyLimit: Int
    /// How long the records are kept of who read a payload or was refused it.
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

    /// How long the former states of registrations are kept: as long as a notification that was in progress at the
    /// time.
    var history: Duration { notifications + NotificationIntake.lifetime }
}
