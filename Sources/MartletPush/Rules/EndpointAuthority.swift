import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The property of a credential that names an authority to trust at the service's addresses instead of the system's,
/// which a simulated service has.
enum EndpointAuthority {
    static let property = "EndpointCertificateAuthority"

    static func field(_ help: String) -> PushPlatformDescriptor.CredentialField {
        .init(name: property, flag: "ca-file", help: help, isFile: true, isExtension: true)
    }

    /// - Returns: The authority's certificate as PEM text; nil where the credential names none.
    /// - Throws: `PushServiceError` for a text that is no certificate.
    static func pem(_ credential: Credential) throws(PushServiceError) -> String? {
        guard let pem = credential.properties[property], !pem.isEmpty else { return nil }
        do throws(CryptoError) {
            _ = try Certificate(pem: pem)
            return pem
        } catch {
            throw PushServiceError(.badCredential, "\(property) cannot be used: \(error)")
        }
    }

    /// What connections need to addresses that a credential may name otherwise than usual. Whoever manages a hub can do
    /// that over the network, so they lead to the internet alone, unless an operator has named an authority as well.
    static func settings(_ pem: String?) -> TransportSettings {
        TransportSettings(trustedCertificatesPEM: pem, addresses: pem == nil ? .publicOnly : .any)
    }
}
