/// Sends requests to the server and returns its answers.
///
/// `MartletURLSession` provides an implementation based on `URLSession`. Write your own to use another HTTP library, or
/// in tests.
public protocol ClientTransport: Sendable {
    /// Sends one request and returns the answer, whatever its status.
    ///
    /// An implementation must not follow redirects (the request carries credentials) and must verify the server's
    /// certificate.
    /// - Throws: `ClientTransportError` if there is no answer.
    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse

    /// Sends one request and passes the body of its answer to a sink while the body is received.
    ///
    /// An implementation must not limit the time for the whole request, but must limit every wait for the next piece.
    /// The default implementation collects the body and passes it on in one piece, which is sufficient for tests.
    /// - Parameter sink: Receives the body of the answer, if the sink accepts the body.
    /// - Returns: The answer, without its body if the sink received it.
    /// - Throws: `ClientTransportError` if there is no answer, or if its body is incomplete.
    func send(
        _ request: ClientRequest, to sink: any ResponseSink
    ) async throws(ClientTransportError) -> ClientResponse
}

extension ClientTransport {
    public func send(
        _ request: ClientRequest, to sink: any ResponseSink
    ) async throws(ClientTransportError) -> ClientResponse {
        let answer = try await send(request)
        let head = ClientResponse(status: answer.status, fields: answer.fields)
        guard sink.begin(head) else { return answer }
        guard answer.body.isEmpty || answer.body.withUnsafeBytes({ sink.receive($0) }) else {
            throw ClientTransportError(.cancelled, mayHaveBeenProcessed: true, "The rest of the answer is not wanted.")
        }
        return head
    }
}

/// A request for a transport to send. Only `PushClient` creates requests.
public struct ClientRequest: Sendable, CustomStringConvertible {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    public let method: String
    /// The absolute URL: `https`, or `http` to this machine itself.
    public let url: String
    /// Header fields, with names in lower case. They contain credentials: never log them.
    public let fields: [String: String]
    /// The body; nil if there is none, or if it is an `upload`.
    public let body: [UInt8]?
    /// The body if it may be too large for memory: the transport reads it while sending. nil if there is none, or if it
    /// is in `body`.
    public let upload: ClientUpload?

    init(
        _ method: String, _ url: String, fields: [String: String] = [:], body: [UInt8]? = nil,
        upload: ClientUpload? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.upload = upload
    }

    /// A description that shows only the method, because URLs contain device tokens and fields contain credentials.
    public var description: String { "\(method) request" }
}

/// A server's answer.
public struct ClientResponse: Sendable {
    /// The status code, 100 to 999.
    public let status: Int
    /// Header fields, with names in lower case. If a field occurs more than once, one of its values.
    public let fields: [String: String]
    /// The body; empty if there is none.
    public let body: [UInt8]

    /// - Parameter fields: The header fields, with names in lower case.
    public init(status: Int, fields: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The reason why a transport did not get an answer.
public struct ClientTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, which determines what the client does next.
    public enum Kind: String, Hashable, Sendable {
        /// The server's name could not be resolved, no connection could be made, or the connection broke.
        case unreachable
        /// TLS failed: the certificate is not trusted or is for another name.
        case insecure
        /// No answer arrived in time.
        case timedOut
        /// The body of the request, which is read from a file, cannot be read.
        case unreadable
        /// The task was cancelled.
        case cancelled
    }

    /// The reason why there is no answer.
    public let kind: Kind
    /// Whether the server may have processed the request. If false, the request can be repeated without taking effect
    /// twice.
    public let mayHaveBeenProcessed: Bool
    /// Details for a developer. Must not contain credentials.
    public let detail: String

    /// - Parameters:
    ///   - kind: Why there is no answer.
    ///   - mayHaveBeenProcessed: Whether the server may have processed the request; true if in doubt.
    ///   - detail: Details for a developer. Must not contain credentials.
    public init(_ kind: Kind, mayHaveBeenProcessed: Bool, _ detail: String) {
        self.kind = kind
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
        self.detail = detail
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
