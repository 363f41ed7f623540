import MartletHTTP

/// A URL at which an identity provider can be asked: https, or http on this machine.
struct ProviderURL: Hashable, Sendable {
    let origin: HTTPOrigin
    /// Path and query.
    let target: String

    private static let lengthLimit = 2048

    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }),
            let (origin, rest) = HTTPOrigin.splitting(text)
        else { return nil }
        guard origin.scheme == .https || Self.isThisMachine(origin.host) else { return nil }
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

    private static func isThisMachine(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || isLoopback(host.split(separator: ".", omittingEmptySubsequences: false))
    }

    /// Returns whether the parts are those of an IP address that begins with 127. A host name that begins with 127 does
    /// not count.
    private static func isLoopback(_ parts: [Substring]) -> Bool {
        parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
