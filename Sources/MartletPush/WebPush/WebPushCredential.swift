import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// A hub's credential for browsers' push services, parsed and checked (PushServices.md, sections 5.5 and 9).
struct WebPushCredential: Sendable {
    /// The names of the credential's properties. They are the same as in Azure Notification Hubs, except that only
    /// Martlet has `allowedHosts` and `endpointAuthority`.
    enum Property {
        static let subject = "Subject"
        static let publicKey = "VapidPublicKey"
        static let privateKey = "VapidPrivateKey"
        static let allowedHosts = "AllowedHosts"
        static let endpointAuthority = EndpointAuthority.property
    }

    /// The contact address of the sender, which is the claim `sub` of VAPID tokens; nil for none.
    ///
    /// Apple refuses senders that state no contact address.
    let subject: String?
    let privateKey: P256PrivateKey
    /// The public key in base64url, the form used in requests and browsers.
    let publicKeyText: String
    let settings: TransportSettings
    /// The hosts to which pushes may be sent; nil allows all.
    private let allowedHosts: HostPatterns?

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        let subject = properties[Property.subject]
        guard subject.map(VAPIDToken.isSubject) ?? true else {
            throw Self.refusal("Subject must be a mailto or https address, such as mailto:push@example.com.")
        }
        self.subject = subject
        let key = try Self.privateKey(properties[Property.privateKey])
        publicKeyText = Base64URL.encode(key.publicKey.rawPoint)
        if let text = properties[Property.publicKey] {
            guard WebPushSubscription.decode(text.utf8) == key.publicKey.rawPoint else {
                throw Self.refusal("VapidPublicKey is not the public half of VapidPrivateKey.")
            }
        }
        privateKey = key
        let hosts = try Self.hosts(properties[Property.allowedHosts])
        allowedHosts = hosts
        settings = TransportSettings(
            trustedCertificatesPEM: try EndpointAuthority.pem(credential),
            addresses: hosts?.namesLoopback == true ? .publicOrLoopback : .publicOnly)
    }

    /// Returns whether the credential allows pushes to subscriptions at an origin.
    ///
    /// The IP addresses of the host are checked later, when a connection is opened.
    func allows(_ origin: HTTPOrigin) -> Bool {
        if origin.isLoopback { return allowedHosts?.matches(origin.host) ?? false }
        return origin.scheme == .https && allowedHosts?.matches(origin.host) ?? true
    }

    /// Generates a key pair, and returns it as properties of a credential.
    static func generate() throws(PushServiceError) -> [String: String] {
        do throws(CryptoError) {
            let key = try P256PrivateKey.generate()
            return [
                Property.publicKey: Base64URL.encode(key.publicKey.rawPoint),
                Property.privateKey: Base64URL.encode(try key.rawScalar().bytes),
            ]
        } catch {
            throw refusal("A key cannot be made: \(error)")
        }
    }

    private static func privateKey(_ text: String?) throws(PushServiceError) -> P256PrivateKey {
        do throws(CryptoError) {
            guard let text, let scalar = WebPushSubscription.decode(text.utf8) else {
                throw .malformedPrivateKey
            }
            return try P256PrivateKey(rawScalar: scalar)
        } catch {
            throw refusal("VapidPrivateKey must be the 32 bytes of a P-256 key in base64url.")
        }
    }

    private static func hosts(_ text: String?) throws(PushServiceError) -> HostPatterns? {
        guard let text else { return nil }
        guard let patterns = HostPatterns(text) else {
            throw refusal(
                "AllowedHosts must be host names with commas between them; *.example.com allows all below one.")
        }
        return patterns
    }

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badCredential, sentence)
    }
}

/// A list of host names such as `fcm.googleapis.com`, and of patterns such as `*.push.apple.com` for all hosts below a
/// domain.
struct HostPatterns: Sendable {
    private static let limit = 100
    private let names: [String]

    /// Parses names separated by commas. Fails if a name is empty or has invalid characters, or if there are more than
    /// 100.
    init?(_ text: String) {
        let names = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map { name in
            String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let areNames = names.allSatisfy { name in
            let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
            return !host.isEmpty && host.utf8.allSatisfy { Self.isHostCharacter($0) }
        }
        guard areNames, names.count <= Self.limit else { return nil }
        self.names = names
    }

    /// Whether one of the names stands for this machine.
    var namesLoopback: Bool { names.contains { HTTPOrigin(scheme: .https, host: $0).isLoopback } }

    func matches(_ host: String) -> Bool {
        names.contains { $0.hasPrefix("*.") ? host.hasSuffix($0.dropFirst()) : host == $0 }
    }

    private static func isHostCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
