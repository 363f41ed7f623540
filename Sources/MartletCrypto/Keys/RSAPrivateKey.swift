import CMartletOpenSSL

/// An RSA private key of 2,048 to 8,192 bits, for RS256 signatures (RFC 7518 section 3.3).
public struct RSAPrivateKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle

    /// Generates a new key of 2,048 bits.
    public static func generate() throws(CryptoError) -> RSAPrivateKey {
        guard let key = martlet_EVP_RSA_gen(2048) else { throw .failed(operation: "key generation") }
        return RSAPrivateKey(handle: KeyHandle(key))
    }

    /// Parses a PEM block `PRIVATE KEY` (PKCS#8, no password) or `RSA PRIVATE KEY`.
    public init(pem: String) throws(CryptoError) {
        guard let handle = KeyHandle.privateKey(pem: pem) else { throw .malformedPrivateKey }
        guard handle.isRSA else { throw .wrongKeyKind(expected: RSAPublicKey.kind) }
        self.handle = handle
    }

    private init(handle: KeyHandle) {
        self.handle = handle
    }

    /// The public key.
    public var publicKey: RSAPublicKey { RSAPublicKey(handle: handle) }

    /// Returns the key as a PEM block `PRIVATE KEY`, not encrypted.
    public func pem() throws(CryptoError) -> String {
        try handle.privateKeyPEM()
    }

    /// Signs the SHA-256 digest of `message` with RSASSA-PKCS1-v1_5. The signature has the same length as the key.
    public func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .failed(operation: "signature") }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle.pointer)))
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else {
            ERR_clear_error()
            throw .failed(operation: "signature")
        }
        return Array(signature.prefix(count))
    }

    public var description: String { "RSAPrivateKey" }
}
