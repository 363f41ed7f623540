/// What a service does to a connection of its own accord.
public enum ConnectionStep: Hashable, Sendable {
    /// Announces how many requests may be open at once; HTTP/2 alone.
    case announce(streamLimit: UInt32)
    /// Says goodbye with a reason, as JSON, and closes; HTTP/2 alone. No request of the connection was processed.
    case goAway(reason: String)
    /// Cuts the connection without a word: a TCP reset. The answer is lost.
    case cut
}
