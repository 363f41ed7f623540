import MartletHTTP

/// The URL of a document or endpoint of an identity provider: https, or http on this machine.
struct ProviderURL: Hashable, Sendable {
    let origin: HTTPOrigin
    /// Path and query.
    let target: String

    private static let lengthLimit = 2048

    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }),
            let (origin, rest) = HTTPOrigin.splitting(text)
        else { return nil }
        guard origin.scheme == .https || origin.isLoopback else { return nil }
        self.init(origin: origin, target: rest.first == "/" ? rest : "/" + rest)
    }

    private init(origin: HTTPOrigin, target: String) {
        self.origin = origin
        self.target = target
    }

    /// The URL at which an issuer with this URL publishes its configuration (OpenID Connect Discovery 1.0, section
    /// 4.1).
    var configuration: ProviderURL {
        let path = target.last == "/" ? String(target.dropLast()) : target
        return ProviderURL(origin: origin, target: path + "/.well-known/openid-configuration")
    }
}
