import CMartletOpenSSL

/// A private key on the curve P-256, for ES256 signatures (RFC 7518 section 3.4).
public struct P256PrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle

    /// Generates a new key.
    public static func generate() throws(CryptoError) -> P256PrivateKey {
        guard let key = martlet_EVP_EC_gen("P-256") else { throw .failed(operation: "key generation") }
        return P256PrivateKey(handle: KeyHandle(key))
    }

    /// Parses a PEM block `PRIVATE KEY` (PKCS#8, no password; the content of a `.p8` file) or `EC PRIVATE KEY`.
    public init(pem: String) throws(CryptoError) {
        try self.init(checking: KeyHandle.privateKey(pem: pem))
    }

    /// Parses the DER encoding of a PKCS#8 structure, which a `.p8` file contains in Base64.
    public init(pkcs8: [UInt8]) throws(CryptoError) {
        try self.init(checking: KeyHandle.privateKey(der: pkcs8))
    }

    /// Creates a key from a scalar of 32 bytes, most significant byte first.
    public init(rawScalar: [UInt8]) throws(CryptoError) {
        guard rawScalar.count == 32 else { throw .wrongLength(expected: 32, actual: rawScalar.count) }
        guard let key = martlet_P256_key(rawScalar, nil, 0) else {
            ERR_clear_error()
            throw .malformedPrivateKey
        }
        handle = KeyHandle(key)
    }

    private init(checking handle: KeyHandle?) throws(CryptoError) {
        guard let handle else { throw .malformedPrivateKey }
        guard handle.isP256 else { throw .wrongKeyKind(expected: "an elliptic curve key on P-256") }
        self.handle = handle
    }

    private init(handle: KeyHandle) {
        self.handle = handle
    }

    /// The public key.
    public var publicKey: P256PublicKey { P256PublicKey(handle: handle) }

    /// Returns the scalar, 32 bytes, most significant byte first.
    public func rawScalar() throws(CryptoError) -> SecretBytes {
        var bytes = [UInt8](repeating: 0, count: 32)
        defer { OPENSSL_cleanse(&bytes, bytes.count) }
        guard martlet_P256_scalar(handle.pointer, &bytes) == 1 else { throw .failed(operation: "private key export") }
        return SecretBytes(bytes)
    }

    /// Returns the key as a PEM block `PRIVATE KEY`, not encrypted.
    public func pem() throws(CryptoError) -> String {
        try handle.privateKeyPEM()
    }

    /// Signs the SHA-256 digest of `message`. Returns 64 bytes: r, then s.
    public func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .failed(operation: "signature") }
        defer { EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1,
            EVP_DigestSign(context, &der, &count, message, message.count) == 1,
            let raw = ECDSASignature.raw(der: Array(der.prefix(count)))
        else {
            ERR_clear_error()
            throw .failed(operation: "signature")
        }
        return raw
    }

    public var description: String { "P256PrivateKey" }
}
