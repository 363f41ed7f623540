import MartletCore
import MartletHTTP
import MartletModel

/// A hub's credential for WNS, parsed and checked (PushServices.md, sections 3.1 and 9).
///
/// Apps from the Microsoft Store have a package security identifier. Apps that use the Windows App SDK are instead
/// registered as applications in a Microsoft Entra directory. Azure Notification Hubs has no properties for the
/// directory and the application, so Martlet adds them.
struct WNSCredential: Sendable {
    /// The names of the credential's properties. Only Martlet has `TenantId` and `ApplicationId`. All other names are
    /// the same as in Azure Notification Hubs.
    enum Property {
        static let packageSID = "PackageSid"
        static let secretKey = "SecretKey"
        static let tokenEndpoint = "WindowsLiveEndpoint"
        static let tenantID = "TenantId"
        static let applicationID = "ApplicationId"
    }

    static let liveEndpoint = "https://login.live.com/accesstoken.srf"
    static let directoryEndpoint = "https://login.microsoftonline.com"
    static let liveScope = "notify.windows.com"
    static let directoryScope = "https://wns.windows.com/.default"

    let clientID: String
    let secretKey: String
    let scope: String
    let tokenOrigin: HTTPOrigin
    let tokenPath: String
    /// The settings for connections to the token endpoint.
    let tokenSettings: TransportSettings
    /// The settings for connections to channels.
    let channelSettings: TransportSettings
    /// Whether pushes may be sent to channels on this machine. Such channels belong to a simulated service, so they are
    /// allowed only if the credential contains the service's certificate authority.
    let allowsLoopback: Bool

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        guard let secretKey = properties[Property.secretKey] else {
            throw Self.refusal("SecretKey must be the secret of the app.")
        }
        self.secretKey = secretKey
        let endpoint: String
        if let tenant = properties[Property.tenantID] {
            guard let application = properties[Property.applicationID], Self.isIdentifier(tenant) else {
                throw Self.refusal("Give TenantId, ApplicationId and SecretKey as the directory shows them.")
            }
            (clientID, scope) = (application, Self.directoryScope)
            endpoint = Self.directoryEndpoint(properties[Property.tokenEndpoint], tenant: tenant)
        } else {
            guard let packageSID = properties[Property.packageSID] else {
                throw Self.refusal("Give PackageSid with SecretKey, or TenantId and ApplicationId with SecretKey.")
            }
            (clientID, scope) = (packageSID, Self.liveScope)
            endpoint = properties[Property.tokenEndpoint] ?? Self.liveEndpoint
        }
        guard let (origin, path) = HTTPOrigin.splitting(endpoint), origin.scheme == .https else {
            throw Self.refusal("WindowsLiveEndpoint must be an https address.")
        }
        tokenOrigin = origin
        tokenPath = path.isEmpty ? "/" : path
        let authority = try EndpointAuthority.pem(credential)
        allowsLoopback = authority != nil
        tokenSettings = EndpointAuthority.settings(
            authority, to: origin, defaults: [Self.liveEndpoint, Self.directoryEndpoint])
        // The service requires HTTP/1.1, so a connection carries one request at a time and many connections are needed.
        channelSettings = TransportSettings(
            version: .http1, trustedCertificatesPEM: authority, connectionLimit: 32,
            addresses: allowsLoopback ? .publicOrLoopback : .publicOnly)
    }

    /// Returns the URL of the token endpoint for an app that is registered in a directory.
    /// - Parameter given: The URL in the credential. If this is the token endpoint for Store apps, it is ignored,
    ///   because clients of Azure Notification Hubs write that URL if their caller gives none.
    private static func directoryEndpoint(_ given: String?, tenant: String) -> String {
        if let given, given != liveEndpoint { return given }
        return "\(directoryEndpoint)/\(tenant)/oauth2/v2.0/token"
    }

    /// Returns whether a text has only characters that a GUID or a domain name can have.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= 255
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badCredential, sentence)
    }
}
