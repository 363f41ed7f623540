/// Whose share of the memory for bodies a request uses. Bodies that are not answered yet are counted by it.
public enum HTTPBodyAccount: Hashable, Sendable {
    /// The address of the peer: it is not known who sends the request.
    case address
    /// A caller who has shown who they are: a name that is unique within `scope`.
    case caller(String, scope: String)
}
