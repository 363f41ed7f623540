import MartletCrypto
import MartletHTTP
import MartletOpenIDConnect

/// The credentials that a request carries.
enum Credentials: Equatable, Sendable {
    /// A user name and a password (RFC 7617). The password may contain colons.
    case password(user: String, password: [UInt8])
    /// The token of a session (RFC 6750).
    case token(String)
    /// The token of an identity provider, also sent as a bearer token (RFC 6750).
    case identityToken(String)

    /// The maximum length in bytes of a field value that is read. It exceeds the maximum length of a token, so that a
    /// token that is too long gets an error message of its own.
    private static let fieldLimit = 2 * IdentityToken.lengthLimit

    /// Reads the `Authorization` field.
    ///
    /// Base64 that is broken into lines, as MIME encoders write it, is accepted. A line end after the password is
    /// accepted too, because a program that reads the password from a file may have encoded the line end as well.
    /// - Throws: `BackendError.noCredentials` if there are no readable credentials.
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
