import MartletHTTP

/// Where clients reach the hubs of this server.
struct PublicEndpoint: Sendable {
    /// Host and port.
    var authority: String
    var isSecure: Bool

    /// `https://HOST:PORT`.
    var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// The public address where one is set, else the TLS listener's, else the clear-text one's.
    init(publicURL: HTTPOrigin?, tls: HTTPOrigin?, clear: HTTPOrigin?) {
        let origin = publicURL ?? tls ?? clear ?? HTTPOrigin(scheme: .https, host: "localhost", port: 8443)
        isSecure = origin.scheme == .https
        authority = origin.host.contains(":") ? "[\(origin.host)]:\(origin.port)" : "\(origin.host):\(origin.port)"
    }
}
