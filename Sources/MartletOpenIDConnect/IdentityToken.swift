import MartletCrypto
import MartletModel

/// A signed JSON Web Token in compact form (RFC 7515, RFC 7519), parsed but not yet verified.
public struct IdentityToken: Sendable {
    /// The accepted signature algorithms (RFC 7518, section 3.1). All other algorithms are refused, in particular
    /// `none` and algorithms with a shared secret.
    enum Algorithm: String, Hashable, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    let algorithm: Algorithm
    let keyID: String?
    let claims: JSON
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// The maximum length of a token in bytes.
    public static let lengthLimit = 16_384
    private static let depthLimit = 16
    private static let keyIDLimit = 256
    /// Header parameters with which a token would choose the key that verifies it, or would require a feature that is
    /// not supported.
    private static let refusedParameters = ["jku", "jwk", "x5u", "x5c", "crit", "zip", "enc"]
    private static let types: Set<String> = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]

    /// Returns whether a bearer token has the form of an identity token: it contains dots. A session token contains
    /// none.
    public static func hasForm(_ token: String) -> Bool {
        token.utf8.contains(UInt8(ascii: "."))
    }

    init(_ text: String) throws(TokenRefusal) {
        guard text.utf8.count <= Self.lengthLimit else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        algorithm = try Self.algorithm(header)
        guard Self.refusedParameters.allSatisfy({ header[$0] == nil }) else { throw .badHeader }
        keyID = try Self.keyID(header)
        try Self.checkType(header)
        self.claims = .object(claims)
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func algorithm(_ header: [String: JSON]) throws(TokenRefusal) -> Algorithm {
        guard let name = header["alg"]?.string, let algorithm = Algorithm(rawValue: name) else { throw .badAlgorithm }
        return algorithm
    }

    private static func keyID(_ header: [String: JSON]) throws(TokenRefusal) -> String? {
        guard let member = header["kid"] else { return nil }
        guard let id = member.string, id.utf8.count <= keyIDLimit else { throw .badHeader }
        return id
    }

    /// Checks the token's type. A token for another purpose, such as logging out, has its own type (RFC 8725, section
    /// 3.11).
    private static func checkType(_ header: [String: JSON]) throws(TokenRefusal) {
        guard let member = header["typ"] else { return }
        guard let type = member.string, types.contains(type.lowercased()) else { throw .badType }
    }

    private static func object(_ part: Substring) -> [String: JSON]? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, maximumDepth: depthLimit) }?.object
    }
}
