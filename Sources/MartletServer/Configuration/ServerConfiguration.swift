import MartletCore
public import MartletHTTP
import MartletNetwork

/// How a server is run.
public struct ServerConfiguration: Sendable {
    /// Where TLS comes from.
    public enum TLS: Hashable, Sendable {
        /// PEM files of the certificate with its chain, and of its key.
        case files(certificate: String, key: String)
        /// A private authority, made once in the data directory.
        case selfSigned
        /// A public authority that issues the certificate over ACME.
        case acme(ACME)
    }

    /// A numeric address and a port.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        public var host: String
        public var port: UInt16
        /// All addresses of this machine, of IPv6 too where it has that; `host` is then `0.0.0.0`.
        public private(set) var isEveryAddress = false

        /// Reads `HOST:PORT`, where an IPv6 address has brackets, and `:PORT` for all addresses.
        public init?(_ text: String) {
            if text.hasPrefix(":"), let port = UInt16(text.dropFirst()) {
                self.init(host: "0.0.0.0", port: port)
                isEveryAddress = true
                return
            }
            guard let origin = HTTPOrigin("http://\(text)"), text.last.map({ $0 != "]" }) ?? false,
                text.contains(":")
            else { return nil }
            self.init(host: origin.host, port: origin.port)
        }

        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        public var description: String {
            isEveryAddress ? ":\(port)" : host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        /// Whether only this machine can reach it.
        public var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
    }

    /// What a bare `POST /api/notifications` sends to its caller's own devices, for apps made by the original guides.
    public enum SampleNotification: String, Sendable, CaseIterable {
        case rich
        case secure
    }

    /// Created where it is missing; belongs to one server at a time.
    public var dataDirectory: String
    /// The path of the admin socket; nil for the one in the data directory.
    public var adminSocket: String?
    /// Clear-text HTTP; nil for none.
    public var listen: Address?
    /// The path of a Unix socket for clear-text HTTP, for a proxy on this machine; nil for none.
    public var listenSocket: String?
    public var tlsListen: Address?
    public var tls: TLS?
    /// The address that clients use where a proxy is in front; nil where they come directly.
    public var publicURL: HTTPOrigin?
    /// The hub that the app backend sends through; nil for the only one there is.
    public var backendHub: String?
    /// The largest file of a rich notification, in bytes.
    public var payloadLimit: Int64 = 10_000_000
    /// The most bytes of rich and secure notifications that one user may have sent and that have not expired.
    public var payloadQuota: Int64 = 1_000_000_000
    public var sampleNotification: SampleNotification?
    /// Whether users may notify users; otherwise only who has the role `admin` may send.
    public var usersMaySend = true
    /// Whose tokens the app backend accepts besides its own sessions; nil for nobody's.
    public var openIDConnect: OpenIDConnect?
    /// Allows clear-text HTTP on an address that other machines reach.
    public var allowsClearText: Bool
    /// Event loops; nil for one per core, at most two.
    public var loops: Int?
    /// How long a notification is kept from its end, with what became of it on every device.
    public var notificationRetention: Duration
    /// A file with what lets its bearer read `/metrics`; nil where nobody may but by the admin socket.
    public var metricsTokenFile: String?
    /// Bytes of the data directory's disk that nothing new is taken into; nil for the usual reserve.
    public var diskReserve: Int64?
    /// Whether the data is copied before the database is upgraded.
    public var copiesBeforeUpgrade = true
    /// Requests a second of each access key of a hub that has no limit of its own; nil for the usual.
    public var requestRate: Int?
    /// Unfinished notifications of a hub that has no limit of its own; nil for the usual.
    public var backlogLimit: Int?
    /// Requests a second of each user of the app backend; nil for the usual.
    public var userRequestRate: Int?

    /// The reverse proxies whose word for the addresses of clients is believed.
    public var trustedProxies = TrustedProxies.none
    /// Whether the TCP listeners accept only trusted proxies, which name each client by the PROXY protocol.
    public var usesProxyProtocol = false
    /// What the log calls the program's version.
    public var version = ""
    /// The commit and compiler of the program, for the log; empty if unknown.
    public var build = ""
    /// The least important lines of the log that are written.
    public var logLevel = Log.Level.info
    /// nil for text where standard error is a terminal, and JSON elsewhere.
    public var logFormat: Log.Format?
    public var accessLog = AccessLog.off
    /// Connections of one client address; nil for the default.
    public var connectionsPerAddress: Int?
    /// Bytes of memory for bodies of requests that are not answered yet; nil for the default.
    public var bodyMemory: Int64?

    public init(
        dataDirectory: String, listen: Address? = nil, tlsListen: Address? = nil, tls: TLS? = nil,
        publicURL: HTTPOrigin? = nil, backendHub: String? = nil, allowsClearText: Bool = false, loops: Int? = nil,
        notificationRetention: Duration = .seconds(30 * 86_400)
    ) {
        self.dataDirectory = dataDirectory
        self.listen = listen
        self.tlsListen = tlsListen
        self.tls = tls
        self.publicURL = publicURL
        self.backendHub = backendHub
        self.allowsClearText = allowsClearText
        self.loops = loops
        self.notificationRetention = notificationRetention
    }

    /// What the public listeners allow their clients.
    var limits: ServerLimits {
        var limits = ServerLimits()
        if let connectionsPerAddress { limits.connectionsPerNetwork = connectionsPerAddress }
        if let bodyMemory { limits.bodies = BodyLimits(total: Int(bodyMemory)) }
        limits.trustedProxies = trustedProxies
        return limits
    }

    /// The limits of hubs that have none of their own.
    var defaultLimits: DefaultLimits {
        var limits = DefaultLimits()
        limits.requestRate = requestRate ?? limits.requestRate
        limits.backlog = backlogLimit ?? limits.backlog
        return limits
    }

    /// - Throws: `ServerError` naming the option that does not fit the others.
    public func validate() throws(ServerError) {
        guard listen != nil || tlsListen != nil || listenSocket != nil else {
            throw ServerError("There is nothing to listen on: give --listen or --tls-listen.")
        }
        if tlsListen != nil, tls == nil {
            throw ServerError(
                "--tls-listen needs --tls-certificate with --tls-key, or --tls-self-signed, or --acme-domain.")
        }
        if tlsListen == nil, tls != nil {
            throw ServerError("A TLS certificate needs --tls-listen HOST:PORT.")
        }
        _ = try acme?.settings()
        _ = try openIDConnect?.settings()
        if let bodyMemory, !(Int64(BodyLimits.leastTotal)...1 << 40).contains(bodyMemory) {
            throw ServerError("--body-memory must be 42M or more: the largest request needs a quarter of it.")
        }
        if usesProxyProtocol, !trustedProxies.includesAddresses {
            throw ServerError(
                "--proxy-protocol needs --trusted-proxies with addresses or networks: without them, anybody could claim "
                    + "any address.")
        }
        if let listenSocket, listenSocket.isEmpty || listenSocket.utf8.count > 107 {
            throw ServerError("--listen unix:PATH: the path of a Unix socket has 1 to 107 bytes.")
        }
        if let listen, !listen.isLoopback, !allowsClearText {
            throw ServerError(
                "--listen \(listen) would send passwords and tokens in clear text to other machines: use --tls-listen, "
                    + "or --allow-clear-text where a proxy in front does TLS.")
        }
    }
}
