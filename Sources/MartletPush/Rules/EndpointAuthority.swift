import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The property of a credential that names a certificate authority. It is trusted at the service's addresses instead of
/// the system's authorities. Simulated services need it.
enum EndpointAuthority {
    static let property = "EndpointCertificateAuthority"

    static func field(_ help: String) -> PushPlatformDescriptor.CredentialForm.Field {
        .init(name: property, flag: "ca-file", help: help, isFile: true, isExtension: true)
    }

    /// - Returns: The authority's certificate as PEM text; nil if the credential names none.
    /// - Throws: `PushServiceError` if the text is not a certificate.
    static func pem(_ credential: Credential) throws(PushServiceError) -> String? {
        guard let pem = credential.properties[property], !pem.isEmpty else { return nil }
        do throws(CryptoError) {
            _ = try Certificate(pem: pem)
            return pem
        } catch {
            throw PushServiceError(.badCredential, "\(property) cannot be used: \(error)")
        }
    }

    /// Returns the settings for connections to an address that a credential may name. Documents from clients may also
    /// name it. It is therefore restricted to public addresses, unless it is one of the service's own addresses or an
    /// operator has also named an authority.
    /// - Parameter defaults: The service's own addresses.
    static func settings(_ pem: String?, to origin: HTTPOrigin, defaults: [String]) -> TransportSettings {
        let isDefault = defaults.contains { HTTPOrigin.splitting($0)?.origin == origin }
        return TransportSettings(trustedCertificatesPEM: pem, addresses: pem != nil || isDefault ? .any : .publicOnly)
    }
}
