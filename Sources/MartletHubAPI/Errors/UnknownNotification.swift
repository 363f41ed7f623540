/// The error for an unknown notification id, which the hub's API and the admin API share.
public enum UnknownNotification {
    /// The sentence without its full stop.
    public static let sentence =
        "The hub has no notification of this id; it is what the send was answered with, and is kept for 30 days by default"
}
