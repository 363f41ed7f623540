/// What is said of an id that no notification of the hub has, over the hub's API and by administration alike.
public enum UnknownNotification {
    /// Without its full stop.
    public static let sentence =
        "The hub has no notification of this id; it is what the send was answered with, and is kept for 30 days by default"
}
