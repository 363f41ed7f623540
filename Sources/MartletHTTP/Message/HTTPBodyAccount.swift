/// The account that is charged for the memory of a request's body. The bodies of unanswered requests are counted per
/// account.
public enum HTTPBodyAccount: Hashable, Sendable {
    /// An unidentified sender: the network of the peer's address is charged.
    case address
    /// An authenticated caller: a name that is unique within `scope`, which is a hub or all users of the app backend.
    case caller(String, scope: String)
}
