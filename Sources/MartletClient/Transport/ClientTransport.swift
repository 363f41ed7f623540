/// Carries requests to the server: one request, one answer.
///
/// `MartletURLSession` has one on `URLSession`. Write your own to use another HTTP library, or in tests.
public protocol ClientTransport: Sendable {
    /// Sends one request and returns the answer, whatever its status.
    ///
    /// Must not follow redirects (the request carries credentials) and must verify the server's certificate.
    /// - Throws: `ClientTransportError` where there is no answer.
    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse
}

/// A request that a transport is to send. Made by `PushClient` alone.
public struct ClientRequest: Sendable, CustomStringConvertible {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    public let method: String
    /// Absolute: `https`, or `http` to this machine itself.
    public let url: String
    /// Header fields, names in lower case. They hold credentials: never log them.
    public let fields: [String: String]
    /// The body; nil where there is none.
    public let body: [UInt8]?

    init(_ method: String, _ url: String, fields: [String: String] = [:], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
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
