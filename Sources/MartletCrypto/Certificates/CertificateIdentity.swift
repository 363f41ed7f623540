import CMartletOpenSSL

/// A certificate with its private key, as used by one side of a TLS connection.
public struct CertificateIdentity: Sendable, CustomStringConvertible {
    /// The certificate that belongs to the private key.
    public let certificate: Certificate
    /// The issuer certificates, starting with the direct issuer, usually without the root.
    public let chain: [Certificate]
    let key: KeyHandle

    /// The maximum number of certificates in PEM text.
    private static let maximumCount = 16

    /// Opens a PKCS#12 container (`.p12`, `.pfx`), including containers with legacy ciphers.
    ///
    /// Throws `malformedPKCS12`, `wrongPassword`, or `incompleteIdentity` if the certificate or the key is missing.
    public init(pkcs12: [UInt8], password: String) throws(CryptoError) {
        defer { ERR_clear_error() }
        // OpenSSL's default provider lacks RC2, which Keychain Access uses for its exports.
        _ = legacyCiphers
        let container = pkcs12.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_PKCS12(nil, &position, buffer.count)
        }
        guard let container else { throw .malformedPKCS12 }
        defer { PKCS12_free(container) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(container, password, &key, &certificate, &others) == 1 else { throw .wrongPassword }
        let keyHandle = key.map(KeyHandle.init)
        let certificateHandle = certificate.map(CertificateHandle.init)
        let chain = Self.takeAll(others)
        guard let keyHandle, let certificateHandle else { throw .incompleteIdentity }
        self.init(certificate: Certificate(handle: certificateHandle), chain: chain, key: keyHandle)
    }

    /// Parses PEM text: the certificate first, followed by its chain, if any. The private key may be anywhere and must
    /// not be password-protected.
    ///
    /// Throws `malformedCertificate`, `tooManyCertificates`, `malformedPrivateKey`, or `incompleteIdentity` if the
    /// certificate and the key do not belong together.
    public init(pem: String) throws(CryptoError) {
        let certificates = Self.certificates(pem: pem)
        guard let first = certificates.first else { throw .malformedCertificate }
        guard certificates.count <= Self.maximumCount else { throw .tooManyCertificates(limit: Self.maximumCount) }
        guard let key = KeyHandle.privateKey(pem: pem) else { throw .malformedPrivateKey }
        guard X509_check_private_key(first.handle.pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw .incompleteIdentity
        }
        self.init(certificate: first, chain: Array(certificates.dropFirst()), key: key)
    }

    init(certificate: Certificate, chain: [Certificate], key: KeyHandle) {
        self.certificate = certificate
        self.chain = chain
        self.key = key
    }

    /// Returns the certificate and its chain as PEM blocks.
    public func certificatePEM() throws(CryptoError) -> String {
        var text = try certificate.pem()
        for certificate in chain {
            text += try certificate.pem()
        }
        return text
    }

    /// Returns the private key as a PEM block, not encrypted.
    public func privateKeyPEM() throws(CryptoError) -> String {
        try key.privateKeyPEM()
    }

    /// Creates a PKCS#12 container of the certificate, chain and key, encrypted with `password`.
    public func pkcs12(password: String) throws(CryptoError) -> [UInt8] {
        defer { ERR_clear_error() }
        let others = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(others) }
        for certificate in chain {
            OPENSSL_sk_push(others, UnsafeRawPointer(certificate.handle.pointer))
        }
        guard
            let container = PKCS12_create(
                password, nil, key.pointer, certificate.handle.pointer, others, 0, 0, 0, 0, 0)
        else { throw .failed(operation: "PKCS#12 export") }
        defer { PKCS12_free(container) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PKCS12(container, &bytes)
        defer { martlet_OPENSSL_free(bytes) }
        guard count > 0 else { throw .failed(operation: "PKCS#12 export") }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// Returns the certificates of PEM text, but not more than `maximumCount + 1`. One certificate more than the limit
    /// is enough for the caller to refuse the text.
    private static func certificates(pem: String) -> [Certificate] {
        withMemoryBIO(Array(pem.utf8)) { bio in
            var certificates: [Certificate] = []
            while certificates.count <= maximumCount, let next = martlet_PEM_read_X509(bio) {
                certificates.append(Certificate(handle: CertificateHandle(next)))
            }
            return certificates
        } ?? []
    }

    private static func takeAll(_ stack: OpaquePointer?) -> [Certificate] {
        guard let stack else { return [] }
        defer { OPENSSL_sk_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index in
            OPENSSL_sk_value(stack, index).map { Certificate(handle: CertificateHandle(OpaquePointer($0))) }
        }
    }

    public var description: String { "CertificateIdentity" }
}

/// True if OpenSSL's legacy provider, which contains RC2 and similar ciphers, could be loaded in addition to the
/// default provider. The provider is loaded once, on first use.
private let legacyCiphers: Bool = OSSL_PROVIDER_try_load(nil, "legacy", 1) != nil
