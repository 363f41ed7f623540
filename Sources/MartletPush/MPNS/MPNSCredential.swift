import MartletCore
import MartletHTTP
import MartletModel

/// A hub's credential for MPNS, parsed and checked (PushServices.md, sections 4.3 and 9).
///
/// The certificate is optional, because a channel that was opened without a certificate needs none.
struct MPNSCredential: Sendable {
    /// The names of the credential's properties. They are the same as in Azure Notification Hubs.
    enum Property {
        static let certificate = "MpnsCertificate"
        static let certificateKey = "CertificateKey"
    }

    /// The certificate with which the sender authenticates itself; nil if the hub sends only to channels that were
    /// opened without a certificate.
    let certificate: ClientCertificate?
    /// Whether pushes may be sent to channels on this machine. Such channels belong to a simulated service, so they are
    /// allowed only if the credential contains the service's certificate authority.
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

    /// Returns the settings for connections to an origin. They contain no certificates if the origin uses http without
    /// TLS.
    func settings(for origin: HTTPOrigin) -> TransportSettings {
        var settings = settings
        if origin.scheme == .http { (settings.clientIdentityPEM, settings.trustedCertificatesPEM) = (nil, nil) }
        return settings
    }
}
