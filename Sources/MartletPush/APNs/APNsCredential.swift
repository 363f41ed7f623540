import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// A hub's credential for APNs, parsed and checked (PushServices.md, sections 1.2, 1.3 and 9).
struct APNsCredential: Sendable {
    /// The names of the credential's properties. They are the same as in Azure Notification Hubs, except that Martlet
    /// adds `endpointAuthority`, for an endpoint with a private authority.
    enum Property {
        static let token = "Token"
        static let keyID = "KeyId"
        static let teamID = "AppId"
        static let bundleID = "AppName"
        static let endpoint = "Endpoint"
        static let certificate = "ApnsCertificate"
        static let certificateKey = "CertificateKey"
        static let endpointAuthority = EndpointAuthority.property
    }

    /// How the sender proves its identity: with provider tokens that it signs, or with a TLS client certificate.
    enum Proof: Sendable {
        case token(keyID: String, teamID: String, key: P256PrivateKey)
        case certificate(CertificateIdentity, pem: String)
    }

    let origin: HTTPOrigin
    let trustedCertificatesPEM: String?
    /// The app's bundle id. It is the topic of pushes that state no topic.
    let bundleID: String
    let proof: Proof

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        guard let origin = APNsEndpoint.origin(properties[Property.endpoint]) else {
            throw Self.refusal("Endpoint must be 'production', 'sandbox', or an https address of an APNs gateway.")
        }
        self.origin = origin
        trustedCertificatesPEM = try EndpointAuthority.pem(credential)
        guard trustedCertificatesPEM != nil || APNsEndpoint.isService(origin) else {
            throw Self.refusal(
                "Endpoint must be a gateway below push.apple.com. For another address the command line must also name "
                    + "the authority to trust there.")
        }
        switch (properties[Property.token], properties[Property.certificate]) {
        case (let token?, nil):
            proof = try Self.tokenProof(token, properties)
            bundleID = try Self.bundleID(properties[Property.bundleID])
        case (nil, let certificate?):
            let client = try ClientCertificate(
                certificate, password: properties[Property.certificateKey] ?? "", property: Property.certificate)
            proof = .certificate(client.identity, pem: client.pem)
            bundleID = try Self.bundleID(properties[Property.bundleID] ?? client.identity.certificate.userID)
        default:
            throw Self.refusal("Give either Token with KeyId, AppId and AppName, or ApnsCertificate.")
        }
    }

    private static func tokenProof(_ token: String, _ properties: [String: String]) throws(PushServiceError) -> Proof {
        guard let keyID = properties[Property.keyID], isIdentifier(keyID) else {
            throw refusal("KeyId must be the 10 letters and digits of the key's id.")
        }
        guard let teamID = properties[Property.teamID], isIdentifier(teamID) else {
            throw refusal("AppId must be the 10 letters and digits of the team id.")
        }
        do throws(CryptoError) {
            return .token(keyID: keyID, teamID: teamID, key: try privateKey(token))
        } catch {
            throw refusal("Token is not the text of a .p8 file: \(error)")
        }
    }

    /// Reads a private key from the text of a `.p8` file, which is PEM. The text may also be only the Base64 between
    /// the file's first and last lines.
    private static func privateKey(_ text: String) throws(CryptoError) -> P256PrivateKey {
        if text.contains("-----BEGIN") { return try P256PrivateKey(pem: text) }
        guard let bytes = Base64.decode(text.filter { !$0.isWhitespace }) else { throw .malformedPrivateKey }
        return try P256PrivateKey(pkcs8: bytes)
    }

    private static func bundleID(_ text: String?) throws(PushServiceError) -> String {
        guard let text, APNsHeaders.isTopic(text) else {
            throw refusal("AppName must be the app's bundle id, such as com.example.app.")
        }
        return text
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { isASCIILetterOrDigit($0) }
    }

    private static func isASCIILetterOrDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badCredential, sentence)
    }
}
