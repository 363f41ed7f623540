import CMartletOpenSSL
import Testing

@testable import MartletNetwork

/// A certificate authority made for one test.
struct TestAuthority {
    let certificatePEM: String
    private let certificate: TestCertificate

    init(name: String = "Test CA") throws {
        certificate = try TestCertificate(name: name, alternatives: nil, issuer: nil)
        certificatePEM = try certificate.pem()
    }

    /// Issues a certificate.
    /// - Parameter alternatives: As OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`.
    func issue(_ name: String = "test", alternatives: String = "DNS:localhost,IP:127.0.0.1") throws -> TLSIdentity {
        let issued = try TestCertificate(name: name, alternatives: alternatives, issuer: certificate)
        return TLSIdentity(certificatesPEM: try issued.pem(), privateKeyPEM: try issued.keyPEM())
    }
}

private final class TestCertificate {
    let certificate: OpaquePointer
    let key: OpaquePointer

    init(name: String, alternatives: String?, issuer: TestCertificate?) throws {
        key = try #require(martlet_EVP_EC_gen("P-256"))
        certificate = try #require(X509_new())
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 86400)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0)
        X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? subject)
        try add(NID_basic_constraints, issuer == nil ? "critical,CA:TRUE" : "critical,CA:FALSE")
        if let alternatives { try add(NID_subject_alt_name, alternatives) }
        #expect(X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0)
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    private func add(_ kind: Int32, _ value: String) throws {
        let field = try #require(X509V3_EXT_conf_nid(nil, nil, kind, value))
        X509_add_ext(certificate, field, -1)
        X509_EXTENSION_free(field)
    }

    func pem() throws -> String {
        try text { PEM_write_bio_X509($0, certificate) }
    }

    func keyPEM() throws -> String {
        try text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private func text(_ write: (OpaquePointer?) -> Int32) throws -> String {
        let bio = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(bio) }
        try #require(write(bio) == 1)
        var start: UnsafeMutablePointer<CChar>?
        let count = martlet_BIO_get_mem_data(bio, &start)
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
