import CMartletOpenSSL

/// Lends `bytes` to `body` as the library's input stream, and leaves no error behind for the next caller to find.
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

/// What `write` wrote to the library's output stream; `write` returns 1 for success.
func textFromBIO(_ operation: String, _ write: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
    // Secure memory is zeroed when freed: what is written may be a private key.
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
