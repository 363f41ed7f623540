import CMartletOpenSSL

/// An RSA public key of 2,048 to 8,192 bits, which verifies RS256 signatures (RFC 7518 section 3.3).
public struct RSAPublicKey: Sendable {
    static let kind = "an RSA key of 2,048 to 8,192 bits"

    private let handle: KeyHandle

    /// Reads a PEM block `PUBLIC KEY`.
    public init(pem: String) throws(CryptoError) {
        guard let handle = KeyHandle.publicKey(pem: pem) else { throw .malformedPublicKey }
        guard handle.isRSA else { throw .wrongKeyKind(expected: Self.kind) }
        self.handle = handle
    }

    init(handle: KeyHandle) {
        self.handle = handle
    }

    /// The key as a PEM block `PUBLIC KEY`.
    public func pem() throws(CryptoError) -> String {
        try handle.publicKeyPEM()
    }

    /// Whether `signature` is one of `message` by this key's owner.
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
