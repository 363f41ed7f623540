/// The account whose share of the memory for bodies a request uses. Bodies of unanswered requests are counted by it.
public enum HTTPBodyAccount: Hashable, Sendable {
    /// The address of the peer, for an unidentified sender.
    case address
    /// An authenticated caller: a name that is unique within `scope`.
    case caller(String, scope: String)
}
