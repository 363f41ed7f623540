/// The reason why a request got no response.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// The name does not resolve.
        case unresolved
        /// No connection could be made.
        case unreachable
        /// TLS failed: the certificate is not trusted, its name differs from the host, or there is no common protocol.
        case insecure
        /// The peer violated the protocol or the connection broke.
        case disconnected
        /// The peer sent more than any answer needs: too long an answer, or a flood of frames, chunks or informational
        /// answers. The connection was ended.
        case misbehaved
        /// The peer reset the request's stream.
        case reset
        /// No answer was received before the deadline.
        case timedOut
        /// The caller no longer waits for the answer, or the batch was stopped before the request was sent.
        case cancelled
        /// The transport was shut down before the request was sent.
        case shutDown
        /// The request is invalid and cannot be sent.
        case invalidRequest
    }

    public var kind: Kind
    /// True if the peer may have processed the request; false means that it is safe to send the request again.
    public var mayHaveBeenProcessed: Bool
    /// The description of the error, for people.
    ///
    /// It contains no secret.
    public var detail: String

    public init(_ kind: Kind, mayHaveBeenProcessed: Bool, _ detail: String) {
        self.kind = kind
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
        self.detail = detail
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
