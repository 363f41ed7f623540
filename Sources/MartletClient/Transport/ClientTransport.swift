/// Carries requests to the server: one request, one answer.
///
/// `MartletURLSession` has one on `URLSession`. Write your own to use another HTTP library, or in tests.
public protocol ClientTransport: Sendable {
    /// Sends one request and returns the answer, whatever its status.
    ///
    /// Must not follow redirects (the request carries credentials) and must verify the server's certificate.
    /// - Throws: `ClientTransportError` where there is no answer.
    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse

    /// Sends one request and hands the body of its answer on as it comes.
    ///
    /// No time limit on the whole, but one on every wait for the next piece. The default collects the body and hands it
    /// on in one piece, which will do for tests.
    /// - Parameter sink: Takes the body, where it wants it.
    /// - Returns: The answer; without its body where the sink took that.
    /// - Throws: `ClientTransportError` where there is no answer, or its body breaks off.
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

/// A request that a transport is to send. Made by `PushClient` alone.
public struct ClientRequest: Sendable, CustomStringConvertible {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    public let method: String
    /// Absolute: `https`, or `http` to this machine itself.
    public let url: String
    /// Header fields, names in lower case. They hold credentials: never log them.
    public let fields: [String: String]
    /// The body; nil where there is none, or where it is an `upload`.
    public let body: [UInt8]?
    /// The body where it is too large for memory; the transport reads it while it sends it.
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

    /// The method alone: addresses hold device tokens, fields hold credentials.
    public var description: String { "\(method) request" }
}

/// What a server answered.
public struct ClientResponse: Sendable {
    /// 100 to 999.
    public let status: Int
    /// Header fields by name in lower case; where one came twice, any of its values.
    public let fields: [String: String]
    /// The body; empty where there is none.
    public let body: [UInt8]

    /// - Parameter fields: Names in lower case.
    public init(status: Int, fields: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// Why a transport has no answer.
public struct ClientTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the client does next depends on it.
    public enum Kind: String, Hashable, Sendable {
        /// The server's name does not resolve, or no connection could be made, or it broke.
        case unreachable
        /// TLS failed: the certificate is not trusted or is for another name.
        case insecure
        /// No answer came in time.
        case timedOut
        /// The body of the request cannot be read.
        case unreadable
        /// The task was cancelled.
        case cancelled
    }

    /// What kept the answer away.
    public let kind: Kind
    /// Whether the server may have acted on the request; false means that sending it again cannot double it.
    public let mayHaveBeenProcessed: Bool
    /// What happened, for a developer; must hold no credentials.
    public let detail: String

    /// - Parameters:
    ///   - kind: What kept the answer away.
    ///   - mayHaveBeenProcessed: Whether the server may have acted on the request; in doubt, true.
    ///   - detail: What happened, for a developer; must hold no credentials.
    public init(_ kind: Kind, mayHaveBeenProcessed: Bool, _ detail: String) {
        self.kind = kind
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
        self.detail = detail
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
