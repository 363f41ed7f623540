import MartletCore
import MartletCrypto
import MartletModel

/// A certificate by which a sender proves who he is, read from a credential's property.
struct ClientCertificate: Sendable {
    let identity: CertificateIdentity
    /// Certificate, chain and key as PEM text.
    let pem: String

    /// - Parameters:
    ///   - text: PEM text, or a PKCS#12 container in base 64.
    ///   - password: Opens the container.
    ///   - property: What errors call it.
    init(_ text: String, password: String, property: String) throws(PushServiceError) {
        do throws(CryptoError) {
            identity = try Self.identity(text, password: password)
            pem = try identity.certificatePEM() + identity.privateKeyPEM()
        } catch {
            throw PushServiceError(.badCredential, "\(property) cannot be used: \(error)")
        }
    }

    private static func identity(_ text: String, password: String) throws(CryptoError) -> CertificateIdentity {
        if text.contains("-----BEGIN") { return try CertificateIdentity(pem: text) }
        guard let bytes = Base64.decode(text.filter { !$0.isWhitespace }) else { throw .malformedPKCS12 }
        return try CertificateIdentity(pkcs12: bytes, password: password)
    }
}
