import Glibc
import MartletHTTP
import MartletModel
import MartletServer
import MartletSimulator

/// `martlet serve`: runs the server.
enum ServeCommand {
    static let command = Command(
        "serve", "Serve hubs and the app backend until SIGTERM.",
        options: [
            .data,
            Option(
                "database", "URL",
                "Keep the data in this database on PostgreSQL 15 or later, such as postgres://USER@HOST/NAME, instead of in "
                    + "--data, where this server's certificates and keys stay. Several servers can share it, as its nodes.",
                isSecret: true),
            Option(
                "node", "NAME",
                "The name of this server among the nodes of --database, for 'martlet nodes'; the machine's name by default."
            ),
            .adminSocket,
            Option(
                "listen", "HOST:PORT",
                "Clear-text HTTP; 127.0.0.1:8080 if --tls-listen is not given. unix:PATH for a proxy on this machine."
            ),
            Option("tls-listen", "HOST:PORT", "HTTPS, HTTP/1.1 and HTTP/2."),
            Option("tls-certificate", "FILE", "The certificate with its chain, in PEM."),
            Option("tls-key", "FILE", "The private key of the certificate, in PEM."),
            Option("tls-self-signed", nil, "Use a private authority, made once: DIR/tls/ca.pem."),
            Option(
                "acme-domain", "NAME,…",
                "Get and renew the certificate for these host names from a public authority (ACME); it must reach the TLS "
                    + "listener at port 443 of each name."),
            Option("acme-contact", "mailto:ADDRESS", "An address to which the authority may write."),
            Option(
                "acme-directory", "URL", "The authority's ACME directory; that of Let's Encrypt if it is not given."),
            Option("acme-ca-file", "FILE", "Certificates to trust for the authority instead of the system's, in PEM."),
            Option("acme-agree-to-terms", nil, "Agree to the authority's terms of service; --acme-domain needs it."),
            Option("allow-clear-text", nil, "Allow --listen on an address that other machines reach."),
            Option(
                "console", "yes|no|HOST:PORT",
                "Serve the web console on the server's listeners, not at all, or on a separate listener. It is off until "
                    + "'martlet operator invite'.", default: "yes"),
            Option(
                "console-files", "DIR",
                "Read the console's pages from this directory, to work on them; on loopback only."),
            Option(
                "console-oidc-client-id", "ID",
                "Let operators sign in to the console by an OpenID Connect provider, which knows the console as this client; "
                    + "its redirect URI is the console's address with /console/enter."),
            Option(
                "console-oidc-client-secret-file", "FILE",
                "The client's secret is the line in this file; without it the client has no secret."),
            Option("console-oidc-issuer", "URL", "The console's provider, if it is not the one of --oidc-issuer."),
            Option(
                "console-oidc-roles", "ROLE=GROUP,…",
                "Which groups have which roles, for all hubs or for one: 'admin=ops, sender@shop=marketing'. Nobody else may "
                    + "enter."),
            Option(
                "console-oidc-roles-claim", "CLAIM", "The claim with a person's groups.",
                default: ServerConfiguration.ConsoleOpenIDConnect.defaultRolesClaim),
            Option(
                "console-oidc-scopes", "SCOPES", "What the provider is asked for.",
                default: ServerConfiguration.ConsoleOpenIDConnect.defaultScopes),
            Option(
                "console-oidc-name", "NAME", "The provider's name on the sign-in page; by default the issuer's host."),
            Option("public-url", "URL", "The address that clients use, where a proxy stands in front."),
            Option(
                "trusted-proxies", "LIST",
                "Addresses and networks of reverse proxies, or the words loopback, private and unix, with commas between "
                    + "them. Their statements about clients' addresses are trusted."),
            Option(
                "forwarded-header", "NAME", "Which field of a trusted proxy is read: x-forwarded-for or forwarded.",
                default: "x-forwarded-for"),
            Option(
                "proxy-protocol", nil,
                "Read the client's address from the PROXY protocol, versions 1 and 2, before TLS; only trusted proxies may "
                    + "connect."),
            Option(
                "backend-hub", "NAME",
                "The hub of the app backend. It is remembered: without this option the last one that was named, or the first hub that "
                    + "was created."),
            Option(
                "payload-limit", "SIZE", "The largest file of a rich notification: bytes, or such as 500k, 10M, 2G.",
                default: "10M"),
            Option("payload-quota", "SIZE", "The total size of one user's unexpired notifications.", default: "1G"),
            Option(
                "sample-notification", "rich|secure",
                "Send this to the caller's devices for a bare POST /api/notifications, as the tutorials' apps expect."),
            Option("users-may-send", "yes|no", "Whether users may notify users, or only admins.", default: "yes"),
            Option(
                "oidc-issuer", "URL",
                "Accept the tokens of this OpenID Connect provider in the app backend; the URL must equal the claim iss of the "
                    + "tokens."),
            Option("oidc-audience", "NAME", "What the provider calls this server: tokens must be meant for it."),
            Option(
                "oidc-jwks", "URL",
                "The provider's keys; needed only if its published configuration does not name them."
            ),
            Option(
                "oidc-user-claim", "CLAIM", "The claim with the user's name.",
                default: ServerConfiguration.OpenIDConnect.defaultUserClaim),
            Option(
                "oidc-roles-claim", "CLAIM", "The claim with the user's roles; without this option tokens give none."),
            Option("simulator", nil, "Run simulated push services too; hubs without a credential send to them."),
            Option(
                "simulator-listen", "HOST:PORT",
                "The address of the simulator's control interface; the services use the following ports.",
                default: "127.0.0.1:9443"),
            Option(
                "keep-notifications", "DAYS",
                "How long the results of a notification are kept after its end: what became of it on each device.",
                default: "30"),
            Option(
                "request-rate", "N", "Requests a second of each access key, if its hub has no other limit.",
                default: "20000"),
            Option(
                "user-request-rate", "N", "Requests a second of each user of the app backend.", default: "100"),
            Option(
                "backlog-limit", "N", "Unfinished notifications of a hub that has no other limit.", default: "100000"),
            Option(
                "disk-reserve", "SIZE",
                "Disk space to keep free: with less left, the server accepts nothing new. At most a twentieth of the disk.",
                default: "64M"),
            Option(
                "no-copy-before-upgrade", nil,
                "Do not copy the data to DIR/backups before the database is upgraded."),
            Option(
                "metrics-token-file", "FILE",
                "Serve /metrics to clients that send the line in this file as bearer token; 'martlet metrics' needs none."
            ),
            Option(
                "connections-per-address", "N",
                "Connections of one client address (IPv6: of its /64), except this machine's.", default: "1000"),
            Option(
                "body-memory", "SIZE", "Memory for bodies of requests that are not answered yet, 42M or more.",
                default: "64M"),
            Option(
                "log-level", "debug|info|warning|error", "The lowest level of the log that is written.",
                default: "info"),
            Option(
                "log-format", "json|text|auto",
                "The format of the log; auto: text if standard error is a terminal, otherwise JSON.",
                default: "auto"),
            Option(
                "access-log", "off|errors|all",
                "Which requests are written to the log; errors: those answered with 5xx or 429.", default: "off"),
            Option("loops", "N", "Event loops; by default one per core, at most two."),
        ] + FaultOptions(prefix: "simulator-").all
    ) { invocation in
        let configuration = try validConfiguration(invocation)
        let directory = configuration.dataDirectory
        if let refusal = DirectoryOwner(of: directory)?.refusalToServe(directory, as: geteuid()) { throw refusal }
        // Ignores SIGHUP until there is something to reload.
        Signals.onHangup {}
        OpenFiles.allowMany()
        var simulator: Simulator?
        if invocation.isOn("simulator") {
            simulator = try await SimulateCommand.start(
                "simulator-listen", invocation, faults: FaultOptions(prefix: "simulator-"))
        }
        let manager = ServiceManager { name in getenv(name).map { String(cString: $0) } }
        let server = try await Server.start(
            configuration, fallbacks: simulator?.credentials ?? [:], simulator: simulator?.controls, manager: manager
        ) {
            try Self.configuration(again: invocation)
        }
        Signals.onHangup { Task { await server.reload() } }
        if let simulator { try publishAuthority(of: simulator, in: configuration.dataDirectory) }
        if let file = server.authorityFile {
            Log(level: configuration.logLevel, format: configuration.logFormat).write(
                .info, "Clients must trust the private authority.",
                ["file": .string(file), "certificateSHA256": .string(server.certificateFingerprint ?? "")])
        }
        await Signals.runUntilTermination(announce: server.logStop) { [simulator] in
            for line in readyLines(server, simulator) { Terminal.print(line) }
            await withTaskGroup { group in
                group.addTask { await server.run() }
                if let simulator { group.addTask { await simulator.run() } }
                // The server also ends when its data was moved to a database.
                _ = await group.next()
                group.cancelAll()
            }
        }
    }

    /// Reads the configuration, and checks the configuration and the simulator's options.
    static func validConfiguration(_ invocation: Invocation) throws -> ServerConfiguration {
        let configuration = try configuration(invocation)
        do throws(ServerError) {
            try configuration.validate()
        } catch {
            throw UsageError(description: error.description, command: invocation.command)
        }
        guard invocation.isOn("simulator") else {
            for option in invocation.command.options
            where option.name.hasPrefix("simulator-") && invocation[option.name] != option.fallback {
                throw UsageError(description: "--\(option.name) needs --simulator.", command: invocation.command)
            }
            return configuration
        }
        _ = try SimulateCommand.address("simulator-listen", invocation)
        _ = try FaultOptions(prefix: "simulator-").plan(invocation)
        return configuration
    }

    /// Returns the lines that report that the server is ready: `martlet: ready http://… https://… simulator=https://…`.
    /// Each part is included only if it is enabled. An address that waits for its certificate is not included, and gets
    /// a line of its own.
    private static func readyLines(_ server: Server, _ simulator: Simulator?) -> [String] {
        let waiting = server.awaitsCertificate ? server.origins.filter { $0.scheme == .https } : []
        var parts = ["martlet: ready"] + server.origins.filter { !waiting.contains($0) }.map(\.description)
        if let socket = server.socket { parts.append("unix:\(socket)") }
        if let simulator { parts.append("simulator=\(simulator.origin)") }
        if let console = server.consoleURL { parts.append("console=\(console)") }
        return [parts.joined(separator: " ")]
            + waiting.map { origin in
                "martlet: \(origin) waits for its first certificate; 'martlet health' says how the order stands."
            }
    }

    /// Reads the configuration again, in order to reload it.
    private static func configuration(again invocation: Invocation) throws -> ServerConfiguration {
        let invocation = try invocation.again()
        do {
            return try configuration(invocation)
        } catch let error as UsageError {
            throw ServerError(invocation.located(error.description))
        }
    }

    /// Writes the certificate of the simulator's authority for programs of the same user, and also to the data
    /// directory, where people look for it.
    private static func publishAuthority(of simulator: Simulator, in directory: String) throws {
        _ = try SimulatorAuthority.publish(simulator.caCertificatePEM, port: simulator.port)
        try TextFile.write(simulator.caCertificatePEM, to: "\(directory)/simulator-ca.pem")
    }

    /// Returns the server configuration that the settings of an invocation describe.
    /// - Throws: `UsageError` that names the invalid setting.
    static func configuration(_ invocation: Invocation) throws -> ServerConfiguration {
        let tlsListen = try invocation.address("tls-listen")
        var configuration = ServerConfiguration(dataDirectory: invocation["data"] ?? "data")
        configuration.database = invocation["database"]
        configuration.node = invocation["node"]
        configuration.adminSocket = invocation["admin-socket"]
        configuration.tlsListen = tlsListen
        if let listen = invocation["listen"], listen.hasPrefix("unix:") {
            configuration.listenSocket = String(listen.dropFirst("unix:".count))
        } else {
            configuration.listen =
                try invocation.address("listen")
                ?? (tlsListen == nil ? ServerConfiguration.Address(host: "127.0.0.1", port: 8080) : nil)
        }
        configuration.tls = try tls(invocation)
        configuration.console = try invocation.required(
            "console", as: "yes, no, or an address such as 127.0.0.1:8090"
        ) { text in
            switch text {
            case "yes": .shared
            case "no": ServerConfiguration.ConsoleListener.none
            default: ServerConfiguration.Address(text).map { .own($0) }
            }
        }
        configuration.consoleFiles = invocation["console-files"]
        configuration.allowsClearText = invocation.isOn("allow-clear-text")
        configuration.backendHub = invocation["backend-hub"]
        try configureSending(&configuration, invocation)
        configuration.openIDConnect = try openIDConnect(invocation)
        configuration.consoleOpenIDConnect = try consoleOpenIDConnect(invocation)
        configuration.publicURL = try invocation.publicURL()
        let retention = try invocation.optional("keep-notifications", as: "a number of days from 1 to 3650") { text in
            (DurationText(text) ?? DurationText("\(text)d")).flatMap { $0.seconds < 86_400 ? nil : $0.seconds }
        }
        if let retention { configuration.notificationRetention = .seconds(retention) }
        try configureLog(&configuration, invocation)
        configuration.version = Version.current
        configuration.build = Version.build
        configuration.trustedProxies = try trustedProxies(invocation)
        configuration.usesProxyProtocol = invocation.isOn("proxy-protocol")
        configuration.requestRate = try invocation.count("request-rate", upTo: 1_000_000)
        configuration.userRequestRate = try invocation.count("user-request-rate", upTo: 1_000_000)
        configuration.backlogLimit = try invocation.count("backlog-limit", upTo: 10_000_000)
        configuration.copiesBeforeUpgrade = !invocation.isOn("no-copy-before-upgrade")
        configuration.diskReserve = try invocation.byteCount("disk-reserve")
        configuration.connectionsPerAddress = try invocation.count("connections-per-address", upTo: 10_000)
        configuration.bodyMemory = try invocation.byteCount("body-memory")
        configuration.metricsTokenFile = invocation["metrics-token-file"]
        configuration.loops = try invocation.optional("loops", as: "a number from 1 to 64") { text in
            Int(text).flatMap { (1...64).contains($0) ? $0 : nil }
        }
        return configuration
    }

    private static func configureSending(
        _ configuration: inout ServerConfiguration, _ invocation: Invocation
    ) throws(UsageError) {
        configuration.payloadLimit = try invocation.byteCount("payload-limit")
        configuration.payloadQuota = try invocation.byteCount("payload-quota")
        configuration.sampleNotification = try invocation.optional("sample-notification", as: "rich or secure") {
            ServerConfiguration.SampleNotification(rawValue: $0)
        }
        configuration.usersMaySend = try invocation.required("users-may-send", as: "yes or no") {
            ["yes": true, "no": false][$0]
        }
    }

    private static func configureLog(
        _ configuration: inout ServerConfiguration, _ invocation: Invocation
    ) throws(UsageError) {
        configuration.logLevel = try invocation.required("log-level", as: "debug, info, warning or error") {
            Log.Level(rawValue: $0)
        }
        configuration.logFormat = try invocation.required("log-format", as: "json, text or auto") { text in
            text == "auto" ? .some(nil) : Log.Format(rawValue: text).map { .some($0) }
        }
        configuration.accessLog = try invocation.required("access-log", as: "off, errors or all") {
            AccessLog(rawValue: $0)
        }
    }

    private static func trustedProxies(_ invocation: Invocation) throws(UsageError) -> TrustedProxies {
        let field = try invocation.required("forwarded-header", as: "x-forwarded-for or forwarded") {
            TrustedProxies.Field(rawValue: $0)
        }
        do throws(TrustedProxies.Problem) {
            return try TrustedProxies(invocation["trusted-proxies"] ?? "", field: field)
        } catch {
            let description =
                switch error {
                case .tooMany(let limit): "--trusted-proxies takes at most \(limit) addresses and networks."
                case .unknown(let item):
                    "--trusted-proxies has '\(item)': give addresses, networks such as 10.0.0.0/8, loopback, private or unix."
                }
            throw UsageError(description: description, command: invocation.command)
        }
    }

    private static func openIDConnect(
        _ invocation: Invocation
    ) throws(UsageError) -> ServerConfiguration.OpenIDConnect? {
        guard let issuer = invocation["oidc-issuer"] else {
            let others = ["oidc-audience", "oidc-jwks", "oidc-roles-claim"]
            guard let name = others.first(where: { invocation[$0] != nil }) else { return nil }
            throw UsageError(description: "--\(name) needs --oidc-issuer.", command: invocation.command)
        }
        return ServerConfiguration.OpenIDConnect(
            issuer: issuer, audience: try invocation.required("oidc-audience"), keys: invocation["oidc-jwks"],
            userClaim: try invocation.required("oidc-user-claim"), rolesClaim: invocation["oidc-roles-claim"])
    }

    private static func consoleOpenIDConnect(
        _ invocation: Invocation
    ) throws(UsageError) -> ServerConfiguration.ConsoleOpenIDConnect? {
        guard let client = invocation["console-oidc-client-id"] else {
            let needy = invocation.command.options.first { option in
                option.name.hasPrefix("console-oidc-") && invocation[option.name] != option.fallback
            }
            guard let needy else { return nil }
            throw UsageError(
                description: "--\(needy.name) needs --console-oidc-client-id.", command: invocation.command)
        }
        guard let issuer = invocation["console-oidc-issuer"] ?? invocation["oidc-issuer"] else {
            throw UsageError(
                description: "--console-oidc-client-id needs --console-oidc-issuer, or --oidc-issuer: the provider.",
                command: invocation.command)
        }
        guard let roles = invocation["console-oidc-roles"] else {
            throw UsageError(
                description:
                    "--console-oidc-client-id needs --console-oidc-roles, such as 'admin=ops': without a role, "
                    + "nobody may enter.", command: invocation.command)
        }
        do throws(ServerError) {
            return try ServerConfiguration.ConsoleOpenIDConnect(
                issuer: issuer, clientID: client, secretFile: invocation["console-oidc-client-secret-file"],
                roles: roles, rolesClaim: invocation["console-oidc-roles-claim"] ?? "",
                scopes: invocation["console-oidc-scopes"] ?? "", name: invocation["console-oidc-name"])
        } catch {
            throw UsageError(description: error.description, command: invocation.command)
        }
    }

    private static func tls(_ invocation: Invocation) throws -> ServerConfiguration.TLS? {
        let acme = try acme(invocation)
        switch (invocation["tls-certificate"], invocation["tls-key"], invocation.isOn("tls-self-signed"), acme) {
        case (nil, nil, false, nil): return nil
        case (nil, nil, true, nil): return .selfSigned
        case (nil, nil, false, let acme?): return .acme(acme)
        case (let certificate?, let key?, false, nil): return .files(certificate: certificate, key: key)
        default:
            throw UsageError(
                description: "Give --tls-certificate with --tls-key, or --tls-self-signed, or --acme-domain.",
                command: invocation.command)
        }
    }

    private static func acme(_ invocation: Invocation) throws(UsageError) -> ServerConfiguration.ACME? {
        guard let domains = invocation["acme-domain"] else {
            let others = ["acme-contact", "acme-directory", "acme-ca-file"].filter { invocation[$0] != nil }
            let needy = others.first ?? (invocation.isOn("acme-agree-to-terms") ? "acme-agree-to-terms" : nil)
            guard let needy else { return nil }
            throw UsageError(description: "--\(needy) needs --acme-domain.", command: invocation.command)
        }
        return ServerConfiguration.ACME(
            domains: domains.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            contact: invocation["acme-contact"], directory: invocation["acme-directory"],
            authorityFile: invocation["acme-ca-file"], agreesToTerms: invocation.isOn("acme-agree-to-terms"))
    }
}

extension Invocation {
    /// Returns the address that an option specifies; nil if the option is not given.
    func address(_ name: String) throws(UsageError) -> ServerConfiguration.Address? {
        try optional(name, as: "ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080, or :PORT for all addresses") {
            ServerConfiguration.Address($0)
        }
    }

    /// Returns the number from 1 to `limit` that an option specifies; nil if the option is not given.
    func count(_ name: String, upTo limit: Int) throws(UsageError) -> Int? {
        try optional(name, as: "a number from 1 to \(limit)") { text in
            Int(text).flatMap { (1...limit).contains($0) ? $0 : nil }
        }
    }

    /// Returns the number of bytes that an option specifies: a number, optionally followed by k, M or G for thousands,
    /// millions or billions.
    func byteCount(_ name: String) throws(UsageError) -> Int64 {
        try required(name, as: "a number of bytes, such as 500000, 500k, 10M or 2G") { text in
            let units: [Character: Int64] = ["k": 1000, "M": 1_000_000, "G": 1_000_000_000]
            let unit = text.last.flatMap { units[$0] }
            let digits = unit == nil ? text[...] : text.dropLast()
            guard let number = Int64(digits), number > 0 else { return nil }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
            return overflow ? nil : bytes
        }
    }
}
