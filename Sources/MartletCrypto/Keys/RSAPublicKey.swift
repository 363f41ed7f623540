import CMartletOpenSSL

/// An RSA public key of 2,048 to 8,192 bits, for verifying RS256 signatures (RFC 7518 section 3.3).
public struct RSAPublicKey: Sendable {
    static let kind = "an RSA key of 2,048 to 8,192 bits"

    private let handle: KeyHandle

    /// Parses a PEM block `PUBLIC KEY`.
    public init(pem: String) throws(CryptoError) {
        guard let handle = KeyHandle.publicKey(pem: pem) else { throw .malformedPublicKey }
        guard handle.isRSA else { throw .wrongKeyKind(expected: Self.kind) }
        self.handle = handle
    }

    /// Creates a key from its modulus and exponent, most significant byte first, as in a JSON Web Key (RFC 7518 section
    /// 6.3.1).
    /// - Parameter exponent: An odd number, at least 3, of at most 8 bytes.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        let value = exponent.count <= 8 ? exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : 0
        guard modulus.count <= 1024, value >= 3, value % 2 == 1 else { throw .malformedPublicKey }
        guard let key = martlet_RSA_public_key(modulus, modulus.count, exponent, exponent.count) else {
            ERR_clear_error()
            throw .malformedPublicKey
        }
        let handle = KeyHandle(key)
        guard handle.isRSA else { throw .wrongKeyKind(expected: Self.kind) }
        self.handle = handle
    }

    init(handle: KeyHandle) {
        self.handle = handle
    }

    /// Returns the key as a PEM block `PUBLIC KEY`.
    public func pem() throws(CryptoError) -> String {
        try handle.publicKeyPEM()
    }

    /// Returns true if `signature` is a signature of `message` by this key.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
