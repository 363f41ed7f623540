import MartletCore
import MartletCrypto
import MartletModel

/// A certificate with which a sender authenticates itself, read from a property of a credential.
struct ClientCertificate: Sendable {
    let identity: CertificateIdentity
    /// The certificate, its chain and its key as PEM text.
    let pem: String

    /// Reads a certificate with its key.
    /// - Parameters:
    ///   - text: PEM text, or a PKCS#12 container in Base64.
    ///   - password: The password of the container.
    ///   - property: The name of the credential's property, for error messages.
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
