import CMartletOpenSSL

/// SHA-256 (FIPS 180-4) of data that arrives in pieces. Not thread-safe.
public final class SHA256Hasher {
    private let context: OpaquePointer

    public init() throws(CryptoError) {
        guard let context = EVP_MD_CTX_new() else { throw .failed(operation: "SHA-256 context") }
        guard EVP_DigestInit_ex2(context, EVP_sha256(), nil) == 1 else {
            EVP_MD_CTX_free(context)
            throw .failed(operation: "SHA-256")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds the next piece.
    public func update(_ bytes: [UInt8]) throws(CryptoError) {
        guard EVP_DigestUpdate(context, bytes, bytes.count) == 1 else { throw .failed(operation: "SHA-256") }
    }

    /// Returns the 32-byte digest of all pieces. Call it once, at the end.
    public func finish() throws(CryptoError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .failed(operation: "SHA-256") }
        return digest
    }
}
