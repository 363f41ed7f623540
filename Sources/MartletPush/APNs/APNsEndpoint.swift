import MartletHTTP

/// Determines the address to which pushes are sent. The credential's property `Endpoint` states it in one of many
/// forms.
enum APNsEndpoint {
    static let production = HTTPOrigin(scheme: .https, host: "api.push.apple.com")
    /// The URL of the production service, as it is written in hub documents.
    static let productionURL = "https://api.push.apple.com:443/3/device"
    static let sandbox = HTTPOrigin(scheme: .https, host: "api.sandbox.push.apple.com")

    /// Returns the origin for a missing or empty text, for a word such as `sandbox`, for the host name of an HTTP/2 or
    /// legacy binary gateway, or for an https URL whose path is empty or `/3/device`. Returns nil for any other text.
    static func origin(_ text: String?) -> HTTPOrigin? {
        let name = (text ?? "").lowercased()
        switch name {
        case "", "production", "gateway.push.apple.com", "gateway.push.apple.com:2195", "api.push.apple.com":
            return production
        case "sandbox", "development", "gateway.sandbox.push.apple.com", "gateway.sandbox.push.apple.com:2195",
            "api.sandbox.push.apple.com", "api.development.push.apple.com":
            return sandbox
        default:
            guard let (origin, path) = HTTPOrigin.splitting(name), origin.scheme == .https,
                ["", "/", "/3/device", "/3/device/"].contains(path)
            else { return nil }
            return canonical(origin)
        }
    }

    /// Returns whether the origin is one of Apple's gateways.
    ///
    /// For any other origin the credential must also name a certificate authority, which only an operator can set.
    static func isService(_ origin: HTTPOrigin) -> Bool {
        origin.host.hasSuffix(".push.apple.com")
    }

    /// Returns the origin with the host name `api.sandbox.push.apple.com` if it has the other name of the sandbox. Hubs
    /// that use different names for the sandbox then share connections.
    private static func canonical(_ origin: HTTPOrigin) -> HTTPOrigin {
        guard origin.host == "api.development.push.apple.com" else { return origin }
        return HTTPOrigin(scheme: .https, host: sandbox.host, port: origin.port)
    }
}
