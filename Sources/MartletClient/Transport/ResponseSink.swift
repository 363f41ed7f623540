/// Receives the body of an answer piece by piece.
///
/// A transport calls these functions one at a time, on any thread, and not after `ClientTransport.send` has returned or
/// thrown. It waits for each call to return before it reads more from the network, so that no more than a few pieces
/// are in memory at a time.
public protocol ResponseSink: AnyObject, Sendable {
    /// Accepts or declines the body. Called once, when the head of the answer was received.
    /// - Parameter head: The answer without its body.
    /// - Returns: Whether the sink accepts the body in pieces. Otherwise the transport returns the body with the
    ///   answer, as for any other request.
    func begin(_ head: ClientResponse) -> Bool

    /// Takes the next piece of the body. Called when the piece was received.
    /// - Parameter piece: The bytes, which are valid only during the call.
    /// - Returns: Whether the sink accepts more pieces. Otherwise the transport ends the request and throws
    ///   `.cancelled`.
    func receive(_ piece: UnsafeRawBufferPointer) -> Bool
}
