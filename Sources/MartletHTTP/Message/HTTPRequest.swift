/// A request: as a server received it whole, or as a client wants it sent.
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    /// Path and query as on the wire, starting with a slash.
    public var target: String
    /// `Host` or `:authority`; empty where an HTTP/1.0 caller gave none.
    public var authority: String
    public var fields: HTTPFields
    public var body: [UInt8]
    /// The body of a received request that is not collected in `body`; nil where it is, or where there is none.
    public var stream: (any HTTPBodyReader)?
    /// Keeps the memory that was reserved for the body of a received request. It is given back with the last copy.
    public var reservation: (any Sendable)?
    /// The body of a request that a client sends from a file; nil where it is `body`. By `HTTPClient.transfer` alone.
    public var upload: HTTPUpload?
    /// What the request came in on; nil for a request that a client sends.
    public var connection: HTTPConnection?
    /// The HTTP/2 stream that a received request came on; 0 otherwise.
    public var streamID: Int32 = 0
    /// Whether the target of a received HTTP/2 request is in the header table, as `HTTPField.indexing` says it of a
    /// field. A target that is sent never enters it.
    public var targetIndexing = HTTPField.Indexing.never

    public init(
        _ method: HTTPMethod, _ target: String, authority: String = "", fields: HTTPFields = [:], body: [UInt8] = [],
        connection: HTTPConnection? = nil
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.fields = fields
        self.body = body
        self.connection = connection
    }

    /// What a trusted proxy says of where a received request comes from; nil where none is in front.
    public var forwarded: Forwarded?

    /// The address of the client that a received request comes from, in text form; empty where it has none. Everything
    /// that counts, limits or records by address asks here.
    public var clientAddress: String { forwarded?.client ?? connection?.peer ?? "" }

    /// What a trusted proxy says of a request.
    public struct Forwarded: Hashable, Sendable {
        /// The address of the client, in text form.
        public var client: String
        /// Whether the request came to the proxy without TLS.
        public var isClearText: Bool

        public init(client: String, isClearText: Bool) {
            self.client = client
            self.isClearText = isClearText
        }
    }
}

/// What a handler may know of the connection that a request came in on.
public struct HTTPConnection: Hashable, Sendable {
    /// Unique among the connections of this process.
    public var id: UInt64
    /// The address of the peer without its port, in text form; empty for a Unix socket.
    public var peer: String
    public var isSecure: Bool
    /// 1 for HTTP/1.0 and HTTP/1.1, 2 for HTTP/2.
    public var majorVersion: Int
    /// The peer's certificate in DER, where TLS asked for one and it was given.
    public var peerCertificate: [UInt8]?

    public init(
        id: UInt64, peer: String, isSecure: Bool, majorVersion: Int = 1, peerCertificate: [UInt8]? = nil
    ) {
        self.id = id
        self.peer = peer
        self.isSecure = isSecure
        self.majorVersion = majorVersion
        self.peerCertificate = peerCertificate
    }
}
