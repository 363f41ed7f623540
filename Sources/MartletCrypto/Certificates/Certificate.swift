import CMartletOpenSSL

/// An X.509 certificate (RFC 5280). This type only parses the certificate; it does not decide whether to trust it.
public struct Certificate: Sendable, Equatable {
    let handle: CertificateHandle

    /// Parses the first PEM block `CERTIFICATE` in `pem`.
    public init(pem: String) throws(CryptoError) {
        guard let handle = withMemoryBIO(Array(pem.utf8), { martlet_PEM_read_X509($0).map(CertificateHandle.init) })
        else { throw .malformedCertificate }
        self.handle = handle
    }

    /// Parses the DER encoding of one certificate.
    public init(der: [UInt8]) throws(CryptoError) {
        let certificate = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_X509(nil, &position, buffer.count)
        }
        guard let certificate else {
            ERR_clear_error()
            throw .malformedCertificate
        }
        handle = CertificateHandle(certificate)
    }

    init(handle: CertificateHandle) {
        self.handle = handle
    }

    /// Returns the certificate as a PEM block `CERTIFICATE`.
    public func pem() throws(CryptoError) -> String {
        try textFromBIO("certificate export") { PEM_write_bio_X509($0, handle.pointer) }
    }

    /// The DER encoding of the certificate.
    public var der: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(handle.pointer, &bytes)
        defer { martlet_OPENSSL_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: max(0, Int(count))))
    }

    /// The SHA-1 digest of the DER encoding, which Windows and Azure call the "thumbprint".
    public var thumbprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        X509_digest(handle.pointer, EVP_sha1(), &digest, &count)
        return digest
    }

    /// The SHA-256 digest of the DER encoding as browsers show it: hexadecimal pairs with colons.
    public var fingerprint: String {
        SHA256.hash(der).map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }

    /// The subject's common name (2.5.4.3), if there is one.
    public var commonName: String? { subjectField(NID_commonName) }

    /// The subject's user id (0.9.2342.19200300.100.1.1), if there is one. In a certificate for APNs, the user id is
    /// the topic of the pushes.
    public var userID: String? { subjectField(NID_userId) }

    /// The first second in which the certificate is valid, in Unix time.
    public var notBefore: Int { martlet_ASN1_TIME_unix(X509_get0_notBefore(handle.pointer)) }

    /// The last second in which the certificate is valid, in Unix time.
    public var notAfter: Int { martlet_ASN1_TIME_unix(X509_get0_notAfter(handle.pointer)) }

    /// Returns the DER content of the extension that has the given dotted object identifier; nil if the certificate has
    /// no such extension.
    public func extensionValue(_ identifier: String) -> [UInt8]? {
        guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(handle.pointer, object, -1)
        guard index >= 0, let data = X509_EXTENSION_get_data(X509_get_ext(handle.pointer, index)) else { return nil }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data))))
    }

    /// The DNS names for which the certificate is valid, in their order in the certificate.
    public var hostNames: [String] {
        let names = X509_get_ext_d2i(handle.pointer, NID_subject_alt_name, nil, nil).map(OpaquePointer.init)
        guard let names else { return [] }
        defer { GENERAL_NAMES_free(names) }
        return (0..<OPENSSL_sk_num(names)).compactMap { index in
            guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self).pointee,
                name.type == GEN_DNS, let text = name.d.dNSName
            else { return nil }
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns true if the certificate is valid for a DNS name or an IP address.
    public func isFor(_ host: String) -> Bool {
        X509_check_ip_asc(handle.pointer, host, 0) == 1
            || X509_check_host(handle.pointer, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil)
                == 1
    }

    private func subjectField(_ identifier: Int32) -> String? {
        guard let name = X509_get_subject_name(handle.pointer) else { return nil }
        let index = X509_NAME_get_index_by_NID(name, identifier, -1)
        guard index >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, value)
        defer { martlet_OPENSSL_free(bytes) }
        guard count >= 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.der == right.der
    }
}

// @unchecked Sendable because the certificate is complete before it is wrapped, and is only read afterwards.
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the reference to the certificate.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { X509_free(pointer) }
}
