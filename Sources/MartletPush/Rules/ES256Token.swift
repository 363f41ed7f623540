import MartletCrypto
import MartletModel

/// A JSON web token signed with ES256 (RFC 7515 and RFC 7518, section 3.4).
struct ES256Token {
    let header: JSON
    let claims: JSON
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// Reads a token without judging its signature; nil for anything but one that says it is signed with ES256.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.string == "ES256"
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether the owner of the key signed the token.
    func isSigned(by key: P256PublicKey) -> Bool {
        key.isValid(signature, for: signedBytes)
    }

    /// Makes and signs a token.
    static func sign(header: JSON, claims: JSON, with key: P256PrivateKey) throws(CryptoError) -> String {
        let signed = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try key.signature(for: Array(signed.utf8))))"
    }

    private static func object(_ part: some StringProtocol) -> JSON? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, maximumDepth: 4) }
    }
}
