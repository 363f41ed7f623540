import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The credential property `EndpointCertificateAuthority`, which contains a certificate authority.
///
/// For connections to the addresses of the push service, this authority is trusted instead of the system's authorities.
/// Simulated services need it, because their certificates are not issued by one of the system's authorities.
enum EndpointAuthority {
    static let property = "EndpointCertificateAuthority"

    static func field(_ help: String) -> PushPlatformDescriptor.CredentialForm.Field {
        .init(name: property, flag: "ca-file", help: help, isFile: true, isExtension: true)
    }

    /// Returns the authority's certificate as PEM text; nil if the credential contains none.
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

    /// Returns the settings for connections to the address that a credential names.
    ///
    /// Normally, connections may only go to public IP addresses, because clients can also send credentials that name an
    /// address. Any IP address is allowed if the credential contains an authority, which only operators can set, or if
    /// the origin is one of the service's own.
    /// - Parameters:
    ///   - pem: The certificate of the authority; nil for the system's authorities.
    ///   - defaults: The service's own addresses, as URLs.
    static func settings(_ pem: String?, to origin: HTTPOrigin, defaults: [String]) -> TransportSettings {
        let isDefault = defaults.contains { HTTPOrigin.splitting($0)?.origin == origin }
        return TransportSettings(trustedCertificatesPEM: pem, addresses: pem != nil || isDefault ? .any : .publicOnly)
    }
}
