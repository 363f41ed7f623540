import CMartletOpenSSL

/// A public key on the curve P-256, for verifying ES256 signatures (RFC 7518 section 3.4).
public struct P256PublicKey: Sendable, Equatable {
    let handle: KeyHandle

    /// Parses a PEM block `PUBLIC KEY`.
    public init(pem: String) throws(CryptoError) {
        guard let handle = KeyHandle.publicKey(pem: pem) else { throw .malformedPublicKey }
        guard handle.isP256 else { throw .wrongKeyKind(expected: "an elliptic curve key on P-256") }
        self.handle = handle
    }

    /// Creates a key from an uncompressed point: `0x04`, then 32 bytes each of x and y.
    public init(rawPoint: [UInt8]) throws(CryptoError) {
        guard rawPoint.count == 65, rawPoint[0] == 4 else { throw .malformedPublicKey }
        guard let key = martlet_P256_key(nil, rawPoint, rawPoint.count) else {
            ERR_clear_error()
            throw .malformedPublicKey
        }
        handle = KeyHandle(key)
    }

    /// Returns true if the bytes are an uncompressed point on the curve. This is faster than creating a key from the
    /// bytes.
    public static func isValid(rawPoint: [UInt8]) -> Bool {
        (try? P256Agreement())?.contains(rawPoint) ?? false
    }

    init(handle: KeyHandle) {
        self.handle = handle
    }

    /// The uncompressed point, 65 bytes.
    public var rawPoint: [UInt8] { handle.encodedPoint() }

    /// Returns the key as a PEM block `PUBLIC KEY`.
    public func pem() throws(CryptoError) -> String {
        try handle.publicKeyPEM()
    }

    /// Returns true if `signature` (64 bytes: r, then s) is a signature of `message` by this key.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let der = ECDSASignature.der(raw: signature), let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1 else { return false }
        return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }

    public static func == (left: P256PublicKey, right: P256PublicKey) -> Bool {
        left.rawPoint == right.rawPoint
    }
}
