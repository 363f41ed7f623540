/// An action that a simulated service takes on a connection, in addition to its answers.
public enum ConnectionStep: Hashable, Sendable {
    /// Announces the maximum number of open requests. HTTP/2 only.
    case announce(streamLimit: UInt32)
    /// Sends GOAWAY with a reason as JSON and with the last stream id 0, and closes the connection. HTTP/2 only. This
    /// stream id tells the peer that none of the peer's requests was processed.
    case goAway(reason: String)
    /// Cuts the connection without warning, with a TCP reset. The answer to the request is lost.
    case cut
}
