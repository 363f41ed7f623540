import CMartletOpenSSL
import Glibc

/// Reads certificates and keys in PEM form (RFC 7468).
enum PEMReader {
    /// A certificate that is freed when this value is destroyed.
    struct Certificate: ~Copyable {
        let pointer: OpaquePointer

        deinit { X509_free(pointer) }
    }

    struct PrivateKey: ~Copyable {
        let pointer: OpaquePointer

        deinit { EVP_PKEY_free(pointer) }
    }

    /// Calls a closure with each certificate in a text, in order.
    /// - Returns: The number of certificates.
    static func forEachCertificate(
        in text: String, _ body: (borrowing Certificate) throws(NetworkError) -> Void
    ) throws(NetworkError) -> Int {
        let bio = try Memory(text)
        var count = 0
        while let pointer = PEM_read_bio_X509(bio.pointer, nil, refusePassword, nil) {
            count += 1
            try body(Certificate(pointer: pointer))
        }
        // The loop ends with an OpenSSL error, even at the normal end of the text. The error is cleared so that no
        // later call reports it.
        ERR_clear_error()
        return count
    }

    static func privateKey(in text: String) throws(NetworkError) -> PrivateKey {
        let bio = try Memory(text)
        guard let pointer = PEM_read_bio_PrivateKey(bio.pointer, nil, refusePassword, nil) else {
            throw .openSSL(.configuration, "the private key cannot be read (it must be PEM without a password)")
        }
        return PrivateKey(pointer: pointer)
    }

    /// Reads the text of a file that is smaller than one mebibyte.
    static func text(ofFile path: String) throws(NetworkError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024 * 1024)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress?.advanced(by: length), buffer.count - length)
            }
            guard count >= 0 else { throw .system(path) }
            if count == 0 { return String(decoding: bytes[..<length], as: UTF8.self) }
            length += count
        }
        throw NetworkError(.configuration, "\(path) is too long to hold certificates")
    }

    private struct Memory: ~Copyable {
        let pointer: OpaquePointer

        init(_ text: String) throws(NetworkError) {
            let bytes = Array(text.utf8)
            // The array need not outlive this call, because BIO_s_mem copies the bytes that are written to it.
            guard let pointer = BIO_new(BIO_s_mem()), BIO_write(pointer, bytes, Int32(bytes.count)) >= 0 || text.isEmpty
            else { throw .openSSL(.configuration, "reading PEM") }
            self.pointer = pointer
        }

        deinit { BIO_free(pointer) }
    }
}

/// Refuses to provide a password. Without this callback, OpenSSL would ask for the password of an encrypted key on the
/// terminal.
private func refusePassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
