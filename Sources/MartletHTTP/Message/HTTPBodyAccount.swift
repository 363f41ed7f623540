/// The account that is charged for the memory of a request's body. The bodies of unanswered requests are counted per
/// account.
public enum HTTPBodyAccount: Hashable, Sendable {
    /// The address of the peer, for an unidentified sender.
    case address
    /// An authenticated caller: a name that is unique within `scope`.
    case caller(String, scope: String)
}
