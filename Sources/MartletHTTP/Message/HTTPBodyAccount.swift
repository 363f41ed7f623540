/// The account that is charged for the memory of a request's body. The bodies of unanswered requests are counted per
/// account.
public enum HTTPBodyAccount: Hashable, Sendable {
    /// The address of the peer, for an unidentified sender.
    case address
    /// An authenticated caller: a name that is unique within `scope`, which is a hub or all users of the app backend.
    case caller(String, scope: String)
}
