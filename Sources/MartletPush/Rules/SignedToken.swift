import MartletCrypto
import MartletModel

/// A JSON web token in compact form (RFC 7515, section 3.1), parsed but not verified.
struct SignedToken {
    let header: JSON
    let claims: JSON
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Parses a token; nil if the token is malformed or states a different algorithm.
    /// - Parameter algorithm: The algorithm that the token's header must state, such as `ES256`.
    init?(_ text: some StringProtocol, algorithm: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.string == algorithm
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Returns a new signed token in compact form.
    /// - Parameter sign: Returns the signature of the given bytes.
    static func make(
        header: JSON, claims: JSON, sign: ([UInt8]) throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) -> String {
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try sign(Array(signed.utf8))))"
    }

    private static func object(_ part: some StringProtocol) -> JSON? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, maximumDepth: 4) }
    }
}
