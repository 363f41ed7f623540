import CMartletOpenSSL

/// A private certificate authority, for a server without a public certificate and for tests.
public struct CertificateAuthority: Sendable {
    /// The authority's own certificate and key.
    ///
    /// Clients must be configured to trust this certificate.
    public let identity: CertificateIdentity

    private static let day = 86_400

    /// Creates a new authority with a P-256 key.
    ///
    /// - Parameters:
    ///   - commonName: The name that users see in a list of authorities.
    ///   - now: The current Unix time in seconds. Validity starts an hour earlier, for clients whose clocks are slow.
    ///   - days: The validity in days.
    public static func generate(
        commonName: String, now: Int, days: Int = 3_650
    ) throws(CryptoError) -> CertificateAuthority {
        let key = try P256PrivateKey.generate()
        let builder = try CertificateBuilder(
            commonName: commonName, key: key.handle, notBefore: now - 3_600, notAfter: now + days * day)
        try builder.setIssuer(nil)
        try builder.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        try builder.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        try builder.add(NID_subject_key_identifier, "hash")
        let certificate = try builder.signed(by: key.handle)
        return CertificateAuthority(
            identity: CertificateIdentity(certificate: certificate, chain: [], key: key.handle))
    }

    /// Restores an existing authority from its certificate and key.
    public init(identity: CertificateIdentity) {
        self.identity = identity
    }

    /// Issues a certificate with a new P-256 key, for servers and clients.
    ///
    /// Throws `invalidName` if a host is neither a DNS name nor an IP address.
    ///
    /// - Parameters:
    ///   - request: The content of the certificate.
    ///   - now: The current Unix time in seconds. Validity starts an hour earlier.
    ///   - days: The validity in days. Clients on Apple platforms refuse more than 825 days.
    public func issue(
        _ request: CertificateRequest, now: Int, days: Int = 397
    ) throws(CryptoError) -> CertificateIdentity {
        let key = try P256PrivateKey.generate()
        let builder = try CertificateBuilder(
            commonName: request.commonName, key: key.handle, notBefore: now - 3_600, notAfter: now + days * Self.day)
        try builder.setIssuer(identity.certificate)
        if let userID = request.userID { try builder.setUserID(userID) }
        try builder.add(NID_basic_constraints, "critical,CA:FALSE")
        try builder.add(NID_key_usage, "critical,digitalSignature")
        try builder.add(NID_ext_key_usage, "serverAuth,clientAuth")
        try builder.add(NID_subject_key_identifier, "hash")
        try builder.add(NID_authority_key_identifier, "keyid:always")
        if !request.hosts.isEmpty {
            try builder.add(NID_subject_alt_name, try request.subjectAlternativeNames())
        }
        for (identifier, value) in request.extensions.sorted(by: { $0.key < $1.key }) {
            try builder.add(identifier, value: value)
        }
        let certificate = try builder.signed(by: identity.key)
        return CertificateIdentity(certificate: certificate, chain: [], key: key.handle)
    }
}
