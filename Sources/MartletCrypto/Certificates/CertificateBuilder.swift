import CMartletOpenSSL

/// Builds a certificate. The result of `signed(by:)` shares the certificate with the builder, so the builder must not
/// be used after that call.
final class CertificateBuilder {
    private let certificate: OpaquePointer
    private var issuer: CertificateHandle?

    init(commonName: String, key: KeyHandle, notBefore: Int, notAfter: Int) throws(CryptoError) {
        guard let certificate = X509_new() else { throw .failed(operation: "certificate") }
        self.certificate = certificate
        // 127 random bits, so that the serial number is positive, unique and not guessable.
        var serial = RandomBytes.generate(16)
        serial[0] &= 0x7F
        guard X509_set_version(certificate, Int(X509_VERSION_3)) == 1,
            martlet_X509_set_serial(certificate, serial, Int32(serial.count)) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), notBefore) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), notAfter) != nil,
            X509_set_pubkey(certificate, key.pointer) == 1
        else { throw .failed(operation: "certificate fields") }
        try addToSubject(NID_commonName, commonName)
    }

    deinit { X509_free(certificate) }

    func setUserID(_ userID: String) throws(CryptoError) {
        try addToSubject(NID_userId, userID)
    }

    /// Sets the issuer; nil for a self-signed certificate.
    func setIssuer(_ issuer: Certificate?) throws(CryptoError) {
        self.issuer = issuer?.handle
        let name = X509_get_subject_name(issuer?.handle.pointer ?? certificate)
        guard X509_set_issuer_name(certificate, name) == 1 else { throw .failed(operation: "certificate issuer") }
    }

    /// Adds an extension, given in OpenSSL's configuration syntax.
    func add(_ identifier: Int32, _ value: String) throws(CryptoError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.pointer ?? certificate, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_nconf_nid(nil, &context, identifier, value) else {
            ERR_clear_error()
            throw .failed(operation: "certificate extension")
        }
        try append(made)
    }

    /// Adds an extension, given by its dotted object identifier and DER content.
    func add(_ identifier: String, value: [UInt8], isCritical: Bool = false) throws(CryptoError) {
        guard let object = OBJ_txt2obj(identifier, 1), let data = ASN1_OCTET_STRING_new() else {
            ERR_clear_error()
            throw .failed(operation: "certificate extension")
        }
        defer {
            ASN1_OBJECT_free(object)
            ASN1_OCTET_STRING_free(data)
        }
        guard ASN1_OCTET_STRING_set(data, value, Int32(value.count)) == 1,
            let made = X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, data)
        else { throw .failed(operation: "certificate extension") }
        try append(made)
    }

    func signed(by key: KeyHandle) throws(CryptoError) -> Certificate {
        guard X509_sign(certificate, key.pointer, EVP_sha256()) > 0, X509_up_ref(certificate) == 1 else {
            ERR_clear_error()
            throw .failed(operation: "certificate signature")
        }
        return Certificate(handle: CertificateHandle(certificate))
    }

    private func append(_ made: OpaquePointer) throws(CryptoError) {
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw .failed(operation: "certificate extension") }
    }

    private func addToSubject(_ identifier: Int32, _ value: String) throws(CryptoError) {
        let bytes = Array(value.utf8)
        guard
            X509_NAME_add_entry_by_NID(
                X509_get_subject_name(certificate), identifier, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
        else {
            ERR_clear_error()
            throw .invalidName(value)
        }
    }
}
