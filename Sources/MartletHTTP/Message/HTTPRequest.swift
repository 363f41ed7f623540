/// An HTTP request that a server received (the whole request, or only its head), or that a client sends.
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    /// The path and query as on the wire, starting with a slash.
    public var target: String
    /// The value of `Host` or `:authority`; empty if an HTTP/1.0 client sent none.
    public var authority: String
    public var fields: HTTPFields
    public var body: [UInt8]
    /// The body of a received request, if the body is streamed; nil if the body is collected in `body`, or if there is
    /// none.
    public var stream: (any HTTPBodyReader)?
    /// Holds the memory reservation for the body of a received request.
    ///
    /// The reservation is released with the last copy of the request.
    public var reservation: (any Sendable)?
    /// The memory for the answer to a received request; nil if that memory is not counted.
    public var answerRoom: (any HTTPAnswerRoom)?
    /// The body of a request that a client sends from a file; nil if the body is in `body`. Only for
    /// `HTTPClient.transfer`.
    public var upload: HTTPUpload?
    /// The maximum size, in bytes, of the body of the answer to a request that a client sends; nil for the client's own
    /// limit.
    ///
    /// If the answer is longer, the client closes the connection. `HTTPClient.stream` and `HTTPClient.transfer` ignore
    /// this limit.
    public var answerLimit: Int?
    /// The connection of a received request; nil for a request that a client sends.
    public var connection: HTTPConnection?
    /// The HTTP/2 stream of a received request; 0 otherwise.
    public var streamID: Int32 = 0
    /// Tells whether the target of a received HTTP/2 request is in the header table, as `HTTPField.indexing` does for a
    /// field.
    ///
    /// When a client sends a request, the target never enters the table.
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

    /// The name of the operator for whom the console passes the request to the administration API. Nil for every other
    /// request; the network never sets it.
    public var operatorName: String?

    /// The client and the scheme of a received request as a trusted proxy states them; nil without such a proxy.
    public var forwarded: Forwarded?

    /// The address of the client of a received request, in text form; empty if the client has none. All code that
    /// counts, limits or records by address must use this property.
    public var clientAddress: String { forwarded?.client ?? connection?.peer ?? "" }

    /// The client and the scheme of a request as a trusted proxy states them.
    public struct Forwarded: Hashable, Sendable {
        /// The address of the client, in text form.
        public var client: String
        /// True if the request reached the proxy without TLS.
        public var isClearText: Bool

        public init(client: String, isClearText: Bool) {
            self.client = client
            self.isClearText = isClearText
        }
    }
}

/// The connection of a request, as a handler sees it.
public struct HTTPConnection: Hashable, Sendable {
    /// The id, unique among the connections of this process.
    public var id: UInt64
    /// The address of the peer without its port, in text form; empty for a Unix socket.
    public var peer: String
    public var isSecure: Bool
    /// The major HTTP version: 1 for HTTP/1.0 and HTTP/1.1, 2 for HTTP/2.
    public var majorVersion: Int
    /// The peer's certificate in DER form, if TLS requested one and the peer sent it.
    public var peerCertificate: [UInt8]?
    /// The user id of the process at the other end of a Unix socket; nil for other connections.
    public var user: UInt32?
    /// The address of the proxy that named the peer in a header of the PROXY protocol, if any.
    public var proxy: String?

    public init(
        id: UInt64, peer: String, isSecure: Bool, majorVersion: Int = 1, peerCertificate: [UInt8]? = nil,
        user: UInt32? = nil, proxy: String? = nil
    ) {
        self.id = id
        self.peer = peer
        self.isSecure = isSecure
        self.majorVersion = majorVersion
        self.peerCertificate = peerCertificate
        self.user = user
        self.proxy = proxy
    }
}
