public import MartletHTTP

/// An https URL of a certificate authority.
public struct ACMEURL: Hashable, Sendable, CustomStringConvertible {
    public let origin: HTTPOrigin
    /// The path and the query of the URL.
    public let target: String

    private static let lengthLimit = 2048

    /// The directory of Let's Encrypt.
    public static let letsEncrypt = ACMEURL(
        origin: HTTPOrigin(scheme: .https, host: "acme-v02.api.letsencrypt.org"), target: "/directory")

    /// Parses a URL.
    /// - Returns: nil if the text is not an https URL, is too long, or has user information or a fragment.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }),
            let (origin, rest) = HTTPOrigin.splitting(text), origin.scheme == .https
        else { return nil }
        self.init(origin: origin, target: rest.first == "/" ? rest : "/" + rest)
    }

    private init(origin: HTTPOrigin, target: String) {
        self.origin = origin
        self.target = target
    }

    public var description: String { origin.description + target }
}
