/// Takes the body of an answer piece by piece while it comes.
///
/// A transport calls one thing at a time, on any thread, and nothing any more once it has returned or thrown. It waits
/// for each call before it takes more from the network, so that no more than a few pieces are ever in memory.
public protocol ResponseSink: AnyObject, Sendable {
    /// The head of the answer has come; called once.
    /// - Parameter head: Without its body.
    /// - Returns: Whether the body is wanted in pieces; where not, it comes with the answer, like that of any other.
    func begin(_ head: ClientResponse) -> Bool

    /// The next piece has come.
    /// - Parameter piece: Valid during the call.
    /// - Returns: Whether more is wanted; where not, the transport ends the request and throws `.cancelled`.
    func receive(_ piece: UnsafeRawBufferPointer) -> Bool
}
