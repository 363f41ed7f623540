import CMartletOpenSSL

extension CertificateIdentity {
    /// The object identifier of the extension `acmeIdentifier` (RFC 8737, section 6.1).
    public static let challengeExtension = "1.3.6.1.5.5.7.1.31"

    /// Creates the certificate that answers a TLS-ALPN-01 challenge (RFC 8737, section 3), self-signed with a new key.
    ///
    /// - Parameters:
    ///   - host: The DNS name that the server proves to control.
    ///   - keyAuthorization: The answer to the challenge, from `P256PublicKey.keyAuthorization`.
    ///   - now: The current Unix time in seconds. Validity starts an hour earlier.
    public static func challenge(
        host: String, keyAuthorization: String, now: Int
    ) throws(CryptoError) -> CertificateIdentity {
        let key = try P256PrivateKey.generate()
        let builder = try CertificateBuilder(
            commonName: "martlet", key: key.handle, notBefore: now - 3_600, notAfter: now + 7 * 86_400)
        try builder.setIssuer(nil)
        try builder.add(
            NID_subject_alt_name, try CertificateRequest(commonName: "", hosts: [host]).subjectAlternativeNames())
        // The content is the digest as a DER octet string: tag 4, length 32.
        let digest = SHA256.hash(Array(keyAuthorization.utf8))
        try builder.add(challengeExtension, value: [4, UInt8(digest.count)] + digest, isCritical: true)
        return CertificateIdentity(certificate: try builder.signed(by: key.handle), chain: [], key: key.handle)
    }
}
