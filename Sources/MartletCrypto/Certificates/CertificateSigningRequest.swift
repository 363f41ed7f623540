import CMartletOpenSSL

/// A certificate signing request (PKCS#10, RFC 2986), signed with the key for which the certificate is requested.
public struct CertificateSigningRequest: Sendable {
    /// The DER encoding of the request.
    public let der: [UInt8]

    /// Creates a request and signs it.
    ///
    /// Throws `invalidName` if a host is neither a DNS name nor an IP address.
    ///
    /// - Parameter hosts: The names in the certificate. The request has them in the extension `subjectAltName`, and its
    ///   subject is empty, as RFC 8555, section 7.4, allows.
    public init(hosts: [String], key: P256PrivateKey) throws(CryptoError) {
        let names = try CertificateRequest(commonName: "", hosts: hosts).subjectAlternativeNames()
        defer { ERR_clear_error() }
        guard let request = X509_REQ_new() else { throw .failed(operation: "certificate request") }
        defer { X509_REQ_free(request) }
        guard X509_REQ_set_version(request, Int(X509_REQ_VERSION_1)) == 1,
            X509_REQ_set_pubkey(request, key.handle.pointer) == 1, Self.add(names, to: request),
            X509_REQ_sign(request, key.handle.pointer, EVP_sha256()) > 0
        else { throw .failed(operation: "certificate request") }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_REQ(request, &bytes)
        defer { martlet_OPENSSL_free(bytes) }
        guard count > 0 else { throw .failed(operation: "certificate request") }
        der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    private static func add(_ names: String, to request: OpaquePointer) -> Bool {
        guard let made = X509V3_EXT_nconf_nid(nil, nil, NID_subject_alt_name, names) else { return false }
        let extensions = OPENSSL_sk_new_null()
        defer {
            OPENSSL_sk_free(extensions)
            X509_EXTENSION_free(made)
        }
        return OPENSSL_sk_push(extensions, UnsafeRawPointer(made)) > 0
            && X509_REQ_add_extensions(request, extensions) == 1
    }
}
