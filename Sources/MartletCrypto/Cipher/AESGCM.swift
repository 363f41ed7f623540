import CMartletOpenSSL

/// AES-256 in Galois/Counter mode (NIST SP 800-38D) with one key.
///
/// A sealed box consists of the nonce (12 bytes), the ciphertext and the tag (16 bytes). Nonces are random, so seal
/// fewer than 2³² boxes with one key.
public struct AESGCM: Sendable, CustomStringConvertible {
    /// The length of a key in bytes.
    public static let keyByteCount = 32
    /// The number of bytes by which a sealed box is longer than its content.
    public static let overhead = nonceByteCount + tagByteCount

    static let nonceByteCount = 12
    static let tagByteCount = 16

    private let key: SecretBytes

    /// Creates a cipher with one key.
    ///
    /// Throws `CryptoError.wrongLength` unless the key has 32 bytes.
    public init(key: SecretBytes) throws(CryptoError) {
        guard key.count == Self.keyByteCount else {
            throw .wrongLength(expected: Self.keyByteCount, actual: key.count)
        }
        self.key = key
    }

    /// Encrypts and authenticates `plaintext`. `associatedData` is authenticated but not stored, and must be given
    /// again to `open`.
    public func seal(_ plaintext: [UInt8], associatedData: [UInt8] = []) throws(CryptoError) -> [UInt8] {
        try seal(plaintext, nonce: RandomBytes.generate(Self.nonceByteCount), associatedData: associatedData)
    }

    /// Decrypts the result of `seal`.
    ///
    /// Throws `CryptoError.authenticationFailed` if the box was not sealed with this key and associated data.
    public func open(_ box: [UInt8], associatedData: [UInt8] = []) throws(CryptoError) -> [UInt8] {
        guard box.count >= Self.overhead else { throw .authenticationFailed }
        let nonce = Array(box[..<Self.nonceByteCount])
        let ciphertext = Array(box[Self.nonceByteCount..<(box.count - Self.tagByteCount)])
        var tag = Array(box[(box.count - Self.tagByteCount)...])
        let context = try cipherContext(nonce: nonce, encrypt: false)
        defer { EVP_CIPHER_CTX_free(context) }
        try update(context, associatedData: associatedData)
        let plaintext = try update(context, ciphertext)
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
            throw .failed(operation: "GCM tag")
        }
        guard finish(context) else { throw .authenticationFailed }
        return plaintext
    }

    func seal(_ plaintext: [UInt8], nonce: [UInt8], associatedData: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = try cipherContext(nonce: nonce, encrypt: true)
        defer { EVP_CIPHER_CTX_free(context) }
        try update(context, associatedData: associatedData)
        let ciphertext = try update(context, plaintext)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        guard finish(context),
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw .failed(operation: "GCM tag") }
        return nonce + ciphertext + tag
    }

    private func cipherContext(nonce: [UInt8], encrypt: Bool) throws(CryptoError) -> OpaquePointer {
        guard let context = EVP_CIPHER_CTX_new() else { throw .failed(operation: "GCM context") }
        let ready = key.withUnsafeBytes { key in
            EVP_CipherInit_ex(
                context, EVP_aes_256_gcm(), nil, key.bindMemory(to: UInt8.self).baseAddress, nonce, encrypt ? 1 : 0)
        }
        guard ready == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .failed(operation: "GCM key")
        }
        return context
    }

    private func update(_ context: OpaquePointer, associatedData: [UInt8]) throws(CryptoError) {
        var written: Int32 = 0
        guard EVP_CipherUpdate(context, nil, &written, associatedData, Int32(associatedData.count)) == 1 else {
            throw .failed(operation: "GCM associated data")
        }
    }

    private func update(_ context: OpaquePointer, _ input: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard !input.isEmpty else { return [] }
        var output = [UInt8](repeating: 0, count: input.count)
        var written: Int32 = 0
        guard EVP_CipherUpdate(context, &output, &written, input, Int32(input.count)) == 1 else {
            throw .failed(operation: "GCM")
        }
        return output
    }

    private func finish(_ context: OpaquePointer) -> Bool {
        // GCM is a stream mode: the final call writes no data, but still requires an output buffer.
        var rest = [UInt8](repeating: 0, count: Self.tagByteCount)
        var written: Int32 = 0
        return EVP_CipherFinal_ex(context, &rest, &written) == 1
    }

    public var description: String { "AESGCM" }
}
