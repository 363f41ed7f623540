/// The effect of a reload: the settings that take effect now, and those that need a restart.
public struct ConfigurationChange: Sendable {
    /// The old configuration with all changes that do not need a restart. The reload applies this configuration.
    public private(set) var effective: ServerConfiguration
    /// The names of the options whose new values are in `effective`, without leading dashes.
    public private(set) var taken: [String] = []
    /// The names of the options whose new values take effect only after a restart, without leading dashes.
    public private(set) var waiting: [String] = []

    public init(from old: ServerConfiguration, to new: ServerConfiguration) {
        effective = old
        for setting in Self.settings where setting.differs(old, new) {
            guard setting.isTakenUp(old, new) else {
                waiting.append(setting.option)
                continue
            }
            setting.copy(new, &effective)
            taken.append(setting.option)
        }
    }

    /// Adds an option to `taken`. This is for an option that names a file, if the option itself is unchanged but the
    /// file has changed.
    mutating func take(_ option: String) {
        if !taken.contains(option) { taken.append(option) }
    }

    /// A summary for people, such as `Reloaded: request-rate. Not taken up until a restart: tls-listen.`
    public var sentence: String { Self.sentence(taken: taken, waiting: waiting) }

    public static func sentence(taken: [String], waiting: [String]) -> String {
        var sentences = ["Reloaded: \(taken.isEmpty ? "nothing has changed" : taken.joined(separator: ", "))."]
        if !waiting.isEmpty {
            sentences.append("Not taken up until a restart: \(waiting.joined(separator: ", ")).")
        }
        return sentences.joined(separator: " ")
    }

    private struct Setting: Sendable {
        let option: String
        var differs: @Sendable (ServerConfiguration, ServerConfiguration) -> Bool
        let copy: @Sendable (ServerConfiguration, inout ServerConfiguration) -> Void
        var isTakenUp: @Sendable (ServerConfiguration, ServerConfiguration) -> Bool

        init<Value: Equatable & SendableMetatype>(
            _ option: String, _ path: any WritableKeyPath<ServerConfiguration, Value> & Sendable, isTakenUp: Bool = true
        ) {
            self.option = option
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            copy = { $1[keyPath: path] = $0[keyPath: path] }
            self.isTakenUp = { _, _ in isTakenUp }
        }

        static func restart<Value: Equatable & SendableMetatype>(
            _ option: String, _ path: any WritableKeyPath<ServerConfiguration, Value> & Sendable
        ) -> Setting {
            Setting(option, path, isTakenUp: false)
        }

        /// The setting of the certificate.
        ///
        /// Replacing one certificate with another takes effect immediately. Adding the first certificate, or removing
        /// the only one, needs a restart, because a TLS listener is opened or closed.
        static var certificate: Setting {
            var setting = Setting("tls-certificate", \.tls)
            setting.differs = { $0.tls != $1.tls && $0.acme == $1.acme }
            setting.isTakenUp = { $0.tls != nil && $1.tls != nil }
            return setting
        }

        /// The setting of the ACME authority and of the names for which certificates are ordered.
        static var acme: Setting {
            var setting = Setting("acme-domain", \.tls, isTakenUp: false)
            setting.differs = { $0.acme != $1.acme }
            return setting
        }
    }

    private static let settings: [Setting] = [
        .restart("data", \.dataDirectory), .restart("database", \.database), .restart("node", \.node),
        .restart("admin-socket", \.adminSocket),
        .restart("listen", \.listen),
        .restart("listen", \.listenSocket), .restart("proxy-protocol", \.usesProxyProtocol),
        .restart("tls-listen", \.tlsListen),
        .certificate, .acme, .restart("allow-clear-text", \.allowsClearText), .restart("public-url", \.publicURL),
        Setting("trusted-proxies", \.trustedProxies), .restart("backend-hub", \.backendHub),
        Setting("payload-limit", \.payloadLimit), Setting("payload-quota", \.payloadQuota),
        Setting("sample-notification", \.sampleNotification), Setting("users-may-send", \.usersMaySend),
        Setting("oidc-issuer", \.openIDConnect),
        Setting("console-oidc-client-id", \.consoleOpenIDConnect),
        .restart("keep-notifications", \.notificationRetention),
        Setting("request-rate", \.requestRate), Setting("user-request-rate", \.userRequestRate),
        Setting("backlog-limit", \.backlogLimit), Setting("disk-reserve", \.diskReserve),
        Setting("metrics-token-file", \.metricsTokenFile),
        Setting("connections-per-address", \.connectionsPerAddress), .restart("body-memory", \.bodyMemory),
        Setting("log-level", \.logLevel), .restart("log-format", \.logFormat), Setting("access-log", \.accessLog),
        .restart("loops", \.loops), .restart("console", \.console), .restart("console-files", \.consoleFiles),
    ]
}
