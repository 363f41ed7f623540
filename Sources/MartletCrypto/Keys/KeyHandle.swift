import CMartletOpenSSL

// @unchecked Sendable because an EVP_PKEY is not changed after its creation, and OpenSSL allows concurrent use of such
// a key.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the reference to the key.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard EVP_PKEY_is_a(pointer, "EC") == 1,
            EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1
        else { return false }
        return name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar($0) })
    }

    /// True if the key is an RSA key of 2,048 to 8,192 bits. Shorter keys are too weak, and longer keys are too slow.
    var isRSA: Bool {
        EVP_PKEY_is_a(pointer, "RSA") == 1 && (2048...8192).contains(EVP_PKEY_get_bits(pointer))
    }

    /// Returns the uncompressed point of an elliptic curve key.
    func encodedPoint() -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(pointer, &bytes)
        defer { martlet_OPENSSL_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    static func privateKey(pem: String) -> KeyHandle? {
        withMemoryBIO(Array(pem.utf8)) { martlet_PEM_read_private_key($0).map(KeyHandle.init) }
    }

    static func privateKey(der: [UInt8]) -> KeyHandle? {
        defer { ERR_clear_error() }
        return der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &position, buffer.count).map(KeyHandle.init)
        }
    }

    static func publicKey(pem: String) -> KeyHandle? {
        withMemoryBIO(Array(pem.utf8)) { PEM_read_bio_PUBKEY($0, nil, nil, nil).map(KeyHandle.init) }
    }

    func privateKeyPEM() throws(CryptoError) -> String {
        try textFromBIO("private key export") { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    func publicKeyPEM() throws(CryptoError) -> String {
        try textFromBIO("public key export") { PEM_write_bio_PUBKEY($0, pointer) }
    }
}
