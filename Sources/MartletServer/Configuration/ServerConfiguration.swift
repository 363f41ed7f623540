import MartletCore
public import MartletHTTP
import MartletNetwork

/// The options that `martlet serve` is started with: the data directory, the listeners, TLS, and limits that apply to
/// all hubs. The settings of a single hub are in the database (`Hub`).
public struct ServerConfiguration: Sendable {
    /// The source of the TLS certificate.
    public enum TLS: Hashable, Sendable {
        /// The certificate with its chain, and the key, are in PEM files with these paths.
        case files(certificate: String, key: String)
        /// A private authority issues the certificate.
        ///
        /// The authority is created once in the data directory.
        case selfSigned
        /// A public authority issues the certificate over ACME.
        case acme(ACME)
    }

    /// A numeric address and a port.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        public var host: String
        public var port: UInt16
        /// Whether the address stands for all addresses of this machine, including those of IPv6 if available. `host`
        /// is then `0.0.0.0`.
        public private(set) var isEveryAddress = false

        /// Parses `HOST:PORT`, in which an IPv6 address is in brackets, or `:PORT` for all addresses.
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

        /// Whether the address can be reached only from this machine.
        public var isLoopback: Bool { HTTPOrigin(scheme: .http, host: host).isLoopback }
    }

    /// The notification that `POST /api/notifications` without a query sends to the devices of the user who makes the
    /// request.
    ///
    /// Apps that were built according to Microsoft's tutorials make this request (NotificationHubs.md, section 14).
    public enum SampleNotification: String, Sendable, CaseIterable {
        case rich
        case secure
    }

    /// The data directory. It is created if it does not exist, and can be used by only one server at a time.
    public var dataDirectory: String
    /// The URL of a database on PostgreSQL, which may contain a password; nil for a database in the data directory.
    public var database: String?
    /// The name of this node among those that share the database, for operators; nil for the name of the machine.
    public var node: String?
    /// The path of the admin socket; nil for the one in the data directory.
    public var adminSocket: String?
    /// The address of the listener for HTTP without TLS; nil for none.
    public var listen: Address?
    /// The path of a Unix socket for HTTP without TLS, for a proxy on this machine; nil for none.
    public var listenSocket: String?
    public var tlsListen: Address?
    public var tls: TLS?
    /// The address that clients use if the server is behind a proxy; nil if clients connect directly.
    public var publicURL: HTTPOrigin?
    /// The name of the app backend's hub; nil means the hub that is recorded in the database, or the only hub if none
    /// is recorded.
    public var backendHub: String?
    /// The maximum size of a file of a rich notification, in bytes.
    public var payloadLimit: Int64 = 10_000_000
    /// The maximum total size of the unexpired rich and secure notifications that one user has sent, in bytes.
    public var payloadQuota: Int64 = 1_000_000_000
    public var sampleNotification: SampleNotification?
    /// Whether users may send notifications to other users; otherwise only users with the role `admin` may send.
    public var usersMaySend = true
    /// The identity provider whose tokens the app backend accepts in addition to its own sessions; nil for none.
    public var openIDConnect: OpenIDConnect?
    /// Whether the server may use HTTP without TLS on an address that other machines can reach.
    public var allowsClearText: Bool
    /// The number of event loops; nil means one per core, but at most two.
    public var loops: Int?
    /// How long a notification and its results on every device are kept after the notification has ended.
    public var notificationRetention: Duration
    /// The path of a file with the bearer token that grants access to `/metrics`; nil if only the admin socket gives
    /// access.
    public var metricsTokenFile: String?
    /// The number of bytes to keep free on the disk of the data directory; nil for the default.
    ///
    /// When less is free, no new data is accepted.
    public var diskReserve: Int64?
    /// Whether the data is copied before the database is upgraded.
    public var copiesBeforeUpgrade = true
    /// The maximum number of requests per second of each access key, for hubs that have no limit of their own; nil for
    /// the default.
    public var requestRate: Int?
    /// The maximum number of unfinished notifications, for hubs that have no limit of their own; nil for the default.
    public var backlogLimit: Int?
    /// The maximum number of requests per second of each user of the app backend; nil for the default.
    public var userRequestRate: Int?

    /// The listener on which the web console is served.
    public var console = ConsoleListener.shared
    /// The directory to read the console's pages from at each request; nil for the pages that the program contains.
    public var consoleFiles: String?
    /// The identity provider with which operators can sign in to the console, as an alternative to passwords; nil for
    /// none.
    public var consoleOpenIDConnect: ConsoleOpenIDConnect?

    /// The reverse proxies that are trusted to report the addresses of clients.
    public var trustedProxies = TrustedProxies.none
    /// Whether the TCP listeners accept only connections from trusted proxies, which report each client's address with
    /// the PROXY protocol.
    public var usesProxyProtocol = false
    /// The proxies whose header fields about a client's address are believed.
    ///
    /// A proxy that uses the PROXY protocol only passes bytes on, so header fields that arrive over TCP were written by
    /// the client and are not believed.
    var forwardingProxies: TrustedProxies {
        usesProxyProtocol ? trustedProxies.onlyUnixSocket : trustedProxies
    }
    /// The version of the program, which is logged; empty if unknown.
    public var version = ""
    /// The commit and compiler of the program, which are logged; empty if unknown.
    public var build = ""
    /// The version with the commit, such as `0.1.0-dev (a600f71)`, which tells two builds of one version apart. Without
    /// the commit if that is unknown.
    var versionWithCommit: String {
        let commit = build.prefix { $0 != "," }
        // Without a commit, the build begins with the name of the compiler.
        return commit.isEmpty || commit.contains { $0 == " " } ? version : "\(version) (\(commit))"
    }
    /// The minimum level of the log entries that are written.
    public var logLevel = Log.Level.info
    /// The format of the log; nil means text if standard error is a terminal, and JSON otherwise.
    public var logFormat: Log.Format?
    public var accessLog = AccessLog.off
    /// The maximum number of connections from one client address; nil for the default.
    public var connectionsPerAddress: Int?
    /// The maximum memory for the bodies of requests that have not been answered yet, in bytes; nil for the default.
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

    /// The limits that the public listeners impose on their clients.
    var limits: ServerLimits {
        var limits = ServerLimits()
        if let connectionsPerAddress { limits.connectionsPerNetwork = connectionsPerAddress }
        if let bodyMemory { limits.bodies = BodyLimits(total: Int(bodyMemory)) }
        limits.trustedProxies = trustedProxies
        return limits
    }

    /// The limits for hubs that have no limits of their own. A limit that is not configured has its built-in default.
    var defaultLimits: DefaultLimits {
        var limits = DefaultLimits()
        limits.requestRate = requestRate ?? limits.requestRate
        limits.backlog = backlogLimit ?? limits.backlog
        return limits
    }

    /// Advice about `--tls-self-signed` on a server that shares a database with others; nil if it does not apply.
    var authorityAdvice: String? {
        guard database != nil, tls == .selfSigned else { return nil }
        return "With --tls-self-signed each node of the database makes an authority of its own, in its data directory: "
            + "clients that trust one node do not trust the others. Give all nodes a certificate that clients trust "
            + "(--tls-certificate, --acme-domain), or let the load balancer do TLS."
    }

    /// Checks that the options are consistent.
    /// - Throws: `ServerError` naming the option that conflicts with the others.
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
        try validateConsole()
        _ = try acme?.settings()
        _ = try openIDConnect?.settings()
        _ = try consoleOpenIDConnect?.settings()
        if let bodyMemory, !(Int64(BodyLimits.leastTotal)...1 << 40).contains(bodyMemory) {
            throw ServerError("--body-memory must be 42M or more: the largest request needs a quarter of it.")
        }
        if usesProxyProtocol, !trustedProxies.includesAddresses {
            throw ServerError(
                "--proxy-protocol needs --trusted-proxies with addresses or networks: without them, any client could claim "
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
