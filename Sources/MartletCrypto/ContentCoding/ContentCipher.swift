import CMartletOpenSSL

/// AES-128 in Galois/Counter mode (NIST SP 800-38D), for keys that are each used for one short message.
///
/// Not thread-safe: an instance holds the working memory of one computation.
final class ContentCipher {
    static let keyByteCount = 16
    static let nonceByteCount = 12
    static let tagByteCount = 16

    private let cipher: OpaquePointer
    private let context: OpaquePointer

    init() throws(CryptoError) {
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil) else { throw .failed(operation: "GCM fetch") }
        guard let context = EVP_CIPHER_CTX_new() else {
            EVP_CIPHER_free(cipher)
            throw .failed(operation: "GCM context")
        }
        self.cipher = cipher
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        EVP_CIPHER_free(cipher)
    }

    /// Encrypts the concatenation of `plaintext` and `rest`, and appends the ciphertext and its tag to the output.
    func seal(
        _ plaintext: [UInt8], _ rest: [UInt8], key: [UInt8], nonce: [UInt8], to output: inout [UInt8]
    ) throws(CryptoError) {
        guard EVP_EncryptInit_ex2(context, cipher, key, nonce, nil) == 1 else { throw Self.failure }
        try update(plaintext[...], into: &output, EVP_EncryptUpdate)
        try update(rest[...], into: &output, EVP_EncryptUpdate)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        var written: Int32 = 0
        guard EVP_EncryptFinal_ex(context, &tag, &written) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw Self.failure }
        output += tag
    }

    /// Decrypts a ciphertext that includes its tag.
    /// - Throws: `CryptoError.authenticationFailed` if the ciphertext was not encrypted with this key and nonce.
    func open(_ sealed: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard sealed.count >= Self.tagByteCount else { throw .authenticationFailed }
        var tag = Array(sealed.suffix(Self.tagByteCount))
        var plaintext: [UInt8] = []
        var rest = [UInt8](repeating: 0, count: Self.tagByteCount)
        var written: Int32 = 0
        guard EVP_DecryptInit_ex2(context, cipher, key, nonce, nil) == 1 else { throw Self.failure }
        try update(sealed.dropLast(Self.tagByteCount), into: &plaintext, EVP_DecryptUpdate)
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
            throw Self.failure
        }
        guard EVP_DecryptFinal_ex(context, &rest, &written) == 1 else {
            ERR_clear_error()
            throw .authenticationFailed
        }
        return plaintext
    }

    private typealias Update = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?, UnsafePointer<UInt8>?, Int32
    ) -> Int32

    /// Encrypts or decrypts the input. GCM is a stream mode, so the output is as long as the input.
    private func update(
        _ input: ArraySlice<UInt8>, into output: inout [UInt8], _ update: Update
    ) throws(CryptoError) {
        guard !input.isEmpty else { return }
        let start = output.count
        output.append(contentsOf: input)
        let count = output.withUnsafeMutableBufferPointer { output in
            var written: Int32 = 0
            let index = output.baseAddress?.advanced(by: start)
            return update(context, index, &written, index, Int32(output.count - start)) == 1 ? Int(written) : -1
        }
        guard count == input.count else { throw Self.failure }
    }

    private static let failure = CryptoError.failed(operation: "GCM")
}
