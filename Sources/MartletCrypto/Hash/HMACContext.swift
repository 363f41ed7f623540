import CMartletOpenSSL

/// HMAC with SHA-256 (RFC 2104) for short keys that are used only once or twice, as in key derivation.
///
/// For such keys this type is faster than `HMACSHA256`, which prepares a key for many messages: the preparation takes
/// longer than hashing the few blocks of a key derivation. Not thread-safe: an instance holds the working memory of one
/// computation.
final class HMACContext {
    private static let blockByteCount = 64

    private let digest: OpaquePointer
    private let context: OpaquePointer

    init() throws(CryptoError) {
        guard let digest = EVP_MD_fetch(nil, "SHA256", nil) else { throw .failed(operation: "SHA-256 fetch") }
        guard let context = EVP_MD_CTX_new() else {
            EVP_MD_free(digest)
            throw .failed(operation: "SHA-256 context")
        }
        self.digest = digest
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(digest)
    }

    /// Returns the 32-byte authentication code of `message`.
    /// - Parameter key: The key, at most one block of the hash (64 bytes).
    func authenticationCode(for message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard key.count <= Self.blockByteCount else {
            throw .wrongLength(expected: Self.blockByteCount, actual: key.count)
        }
        let inner = try hash(Self.padded(key, with: 0x36), message)
        return try hash(Self.padded(key, with: 0x5C), inner)
    }

    private static func padded(_ key: [UInt8], with byte: UInt8) -> [UInt8] {
        var block = [UInt8](repeating: byte, count: blockByteCount)
        for index in key.indices { block[index] ^= key[index] }
        return block
    }

    private func hash(_ first: [UInt8], _ second: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: SHA256.byteCount)
        guard EVP_DigestInit_ex2(context, digest, nil) == 1, EVP_DigestUpdate(context, first, first.count) == 1,
            EVP_DigestUpdate(context, second, second.count) == 1,
            EVP_DigestFinal_ex(context, &output, nil) == 1
        else { throw .failed(operation: "HMAC") }
        return output
    }
}
