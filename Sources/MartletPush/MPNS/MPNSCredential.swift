import MartletCore
import MartletHTTP
import MartletModel

/// A hub's credential for the service, read and checked (PushServices.md, sections 4.3 and 9). There need not be a
/// certificate: channels that were opened without one are sent to without.
struct MPNSCredential: Sendable {
    /// The names of the properties; those of the original hub.
    enum Property {
        static let certificate = "MpnsCertificate"
        static let certificateKey = "CertificateKey"
    }

    /// nil where there is no certificate.
    let certificate: ClientCertificate?
    /// Whether channels on this machine are sent to: those of a simulated service, whose authority the credential names.
    let allowsLoopback: Bool
    private let settings: TransportSettings

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        if let text = properties[Property.certificate] {
            certificate = try ClientCertificate(
                text, password: properties[Property.certificateKey] ?? "", property: Property.certificate)
        } else {
            certificate = nil
        }
        let authority = try EndpointAuthority.pem(credential)
        allowsLoopback = authority != nil
        settings = TransportSettings(
            version: .http1, trustedCertificatesPEM: authority, clientIdentityPEM: certificate?.pem,
            connectionLimit: 32, addresses: allowsLoopback ? .publicOrLoopback : .publicOnly)
    }

    /// What connections to an origin need.
    func settings(for origin: HTTPOrigin) -> TransportSettings {
        var settings = settings
        if origin.scheme == .http { (settings.clientIdentityPEM, settings.trustedCertificatesPEM) = (nil, nil) }
        return settings
    }
}
