import MartletCore

/// How long storage keeps what is over.
public struct Retention: Hashable, Sendable {
    /// How long the id of a removed registration answers "gone".
    public var tombstones: Duration
    /// The most such ids; the oldest go first.
    public var tombstoneLimit: Int
    /// How long a notification is kept from its end, with what became of it on every device.
    public var notifications: Duration
    /// The most states of registrations that are over; the oldest go first.
    public var historyLimit: Int
    /// How long it is told who fetched a payload, or was refused it.
    public var audit: Duration
    /// The most refusals of these; the oldest go first.
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

    /// How long it is kept what a registration was: as long as a notification that was under way then.
    var history: Duration { notifications + NotificationIntake.lifetime }
}
