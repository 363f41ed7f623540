import MartletCore
import MartletHTTP
import MartletModel

/// A hub's credential for Amazon Device Messaging, parsed and checked (PushServices.md, sections 6 and 9).
struct ADMCredential: Sendable {
    /// The names of the credential's properties. They are the same as in Azure Notification Hubs.
    enum Property {
        static let clientID = "ClientId"
        static let clientSecret = "ClientSecret"
        static let tokenEndpoint = "AuthTokenUrl"
        static let sendURL = "SendUrlTemplate"
    }

    static let tokenEndpoint = "https://api.amazon.com/auth/O2/token"
    static let sendURL = "https://api.amazon.com/messaging/registrations/{0}/messages"

    let clientID: String
    let clientSecret: String
    let tokenOrigin: HTTPOrigin
    let tokenPath: String
    let sendOrigin: HTTPOrigin
    /// The path to which a message is sent, in two parts: the text before the registration id and the text after it.
    let sendPath: (prefix: String, suffix: String)
    let tokenSettings: TransportSettings
    let sendSettings: TransportSettings

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        guard let clientID = properties[Property.clientID] else {
            throw Self.refusal("ClientId must be the id of the app's security profile.")
        }
        guard let clientSecret = properties[Property.clientSecret] else {
            throw Self.refusal("ClientSecret must be the secret of the app's security profile.")
        }
        (self.clientID, self.clientSecret) = (clientID, clientSecret)
        let token = properties[Property.tokenEndpoint] ?? Self.tokenEndpoint
        guard let (origin, path) = Self.address(token), !path.isEmpty else {
            throw Self.refusal("AuthTokenUrl must be an https address with a path.")
        }
        (tokenOrigin, tokenPath) = (origin, path)
        let send = properties[Property.sendURL] ?? Self.sendURL
        guard let (origin, path) = Self.address(send), let parts = Self.parts(of: path) else {
            throw Self.refusal("SendUrlTemplate must be an https address with {0} in its path, once.")
        }
        (sendOrigin, sendPath) = (origin, parts)
        let authority = try EndpointAuthority.pem(credential)
        tokenSettings = EndpointAuthority.settings(authority, to: tokenOrigin, defaults: [Self.tokenEndpoint])
        sendSettings = EndpointAuthority.settings(authority, to: sendOrigin, defaults: [Self.sendURL])
    }

    private static func address(_ text: String) -> (origin: HTTPOrigin, rest: String)? {
        guard let found = HTTPOrigin.splitting(text), found.origin.scheme == .https,
            found.rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return found
    }

    private static func parts(of path: String) -> (prefix: String, suffix: String)? {
        guard path.first == "/", let open = path.firstIndex(of: "{"), path[open...].hasPrefix("{0}") else { return nil }
        let suffix = path[open...].dropFirst("{0}".count)
        return suffix.contains("{") ? nil : (String(path[..<open]), String(suffix))
    }

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badCredential, sentence)
    }
}
