import MartletHTTP

/// Where pushes go, read from the credential's `Endpoint` in all the forms that hubs are configured with.
enum APNsEndpoint {
    static let production = HTTPOrigin(scheme: .https, host: "api.push.apple.com")
    /// The spelling of hubs' documents.
    static let productionURL = "https://api.push.apple.com:443/3/device"
    static let sandbox = HTTPOrigin(scheme: .https, host: "api.sandbox.push.apple.com")

    /// The origin of nothing at all, of a word, of a binary gateway's name, or of an https URL whose path is empty or
    /// the service's own; nil for anything else.
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

    /// Whether the origin is one of Apple's gateways, as opposed to an address that only an operator may name.
    static func isService(_ origin: HTTPOrigin) -> Bool {
        origin.host.hasSuffix(".push.apple.com")
    }

    /// One name per environment, so that hubs which spell it differently share connections.
    private static func canonical(_ origin: HTTPOrigin) -> HTTPOrigin {
        guard origin.host == "api.development.push.apple.com" else { return origin }
        return HTTPOrigin(scheme: .https, host: sandbox.host, port: origin.port)
    }
}
