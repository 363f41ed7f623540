/// How long storage keeps what is over.
public struct Retention: Hashable, Sendable {
    /// How long the id of a removed registration answers "gone".
    public var tombstones: Duration
    /// The most such ids; the oldest go first.
    public var tombstoneLimit: Int
    /// How long a notification is kept from its end.
    public var notifications: Duration

    public init(
        tombstones: Duration = .seconds(90 * 86_400), tombstoneLimit: Int = 1_000_000,
        notifications: Duration = .seconds(30 * 86_400)
    ) {
        self.tombstones = tombstones
        self.tombstoneLimit = tombstoneLimit
        self.notifications = notifications
    }
}
