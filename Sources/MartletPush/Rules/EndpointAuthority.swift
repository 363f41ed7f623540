import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The property of a credential that names an authority to trust at the service's addresses instead of the system's,
/// which a simulated service has.
enum EndpointAuthority {
    static let property = "EndpointCertificateAuthority"

    static func field(_ help: String) -> PushPlatformDescriptor.CredentialForm.Field {
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

    /// What connections need to an address that a credential can name. Documents can name it too, so it leads to public
    /// addresses alone unless it is the service's own, or an operator has named an authority as well.
    /// - Parameter defaults: The service's own addresses.
    static func settings(_ pem: String?, to origin: HTTPOrigin, defaults: [String]) -> TransportSettings {
        let isDefault = defaults.contains { HTTPOrigin.splitting($0)?.origin == origin }
        return TransportSettings(trustedCertificatesPEM: pem, addresses: pem != nil || isDefault ? .any : .publicOnly)
    }
}
