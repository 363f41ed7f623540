import MartletCrypto
import MartletHTTP

/// What a request shows of who sends it.
enum Credentials: Equatable, Sendable {
    /// User and password (RFC 7617); the password may contain colons.
    case password(user: String, password: [UInt8])
    /// The token of a session (RFC 6750).
    case token(String)
    /// The token of an identity provider, likewise.
    case identityToken(String)

    /// Longest value of the field that is worth reading, in bytes; a token that is too long is told so.
    private static let fieldLimit = 2 * IdentityToken.lengthLimit

    /// Reads the `Authorization` field.
    ///
    /// Some callers wrap their base64 or encode a line end after the password: both are forgiven.
    /// - Throws: `BackendError.noCredentials` where there is none that can be read.
    init(_ fields: HTTPFields) throws(BackendError) {
        let values = fields.values(of: "authorization")
        guard values.count == 1, let value = values.first, value.utf8.count <= Self.fieldLimit,
            let space = value.firstIndex(of: " ")
        else { throw .noCredentials }
        let parameter = value[space...].utf8.filter { !Self.isSpace($0) }
        switch value[..<space].lowercased() {
        case "basic":
            guard let credentials = Self.basic(parameter) else { throw .noCredentials }
            self = credentials
        case "bearer":
            let token = String(decoding: parameter, as: UTF8.self)
            self = IdentityToken.hasForm(token) ? .identityToken(token) : .token(token)
        default: throw .noCredentials
        }
    }

    private static func basic(_ parameter: [UInt8]) -> Credentials? {
        let missing = (4 - parameter.count % 4) % 4
        let padded = parameter + Array(repeating: UInt8(ascii: "="), count: missing)
        guard var pair = Base64.decode(utf8: padded) else { return nil }
        while let last = pair.last, last == 0x0D || last == 0x0A { pair.removeLast() }
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")),
            let user = String(validating: pair[..<colon], as: UTF8.self)
        else { return nil }
        return .password(user: user, password: Array(pair[(colon + 1)...]))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}
