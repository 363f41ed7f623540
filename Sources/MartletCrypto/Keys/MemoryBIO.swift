import CMartletOpenSSL

/// Calls `body` with an OpenSSL input stream (BIO) that contains `bytes`. Clears OpenSSL's error queue at the end.
func withMemoryBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
    bytes.withUnsafeBytes { buffer in
        guard let bio = martlet_BIO_new_mem(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        return body(bio)
    }
}

/// Returns the text that `write` writes to an OpenSSL output stream (BIO). `write` must return 1 if it succeeds.
func textFromBIO(_ operation: String, _ write: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
    // Uses secure memory, which is zeroed when freed, because the text may be a private key.
    guard let bio = BIO_new(BIO_s_secmem()) else { throw .failed(operation: operation) }
    defer { BIO_free(bio) }
    guard write(bio) == 1 else {
        ERR_clear_error()
        throw .failed(operation: operation)
    }
    var data: UnsafeMutablePointer<CChar>?
    let count = martlet_BIO_get_mem_data(bio, &data)
    return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
}
