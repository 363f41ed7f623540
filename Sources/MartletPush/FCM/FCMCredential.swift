import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// A hub's credential for FCM, parsed and checked: a service account of a Firebase project (PushServices.md, sections
/// 2.1 and 9).
struct FCMCredential: Sendable {
    /// The names of the credential's properties. `PrivateKey`, `ProjectId` and `ClientEmail` are the same as in Azure
    /// Notification Hubs. Only Martlet has the other properties.
    enum Property {
        static let privateKey = "PrivateKey"
        static let projectID = "ProjectId"
        static let clientEmail = "ClientEmail"
        static let endpoint = "Endpoint"
        static let tokenEndpoint = "TokenEndpoint"
        static let messagesPerMinute = "MessagesPerMinute"
    }

    static let productionEndpoint = "https://fcm.googleapis.com"
    static let productionTokenEndpoint = "https://oauth2.googleapis.com/token"
    /// The number of messages that a project may send per minute by default. The owner of a project can request more.
    static let productionMessagesPerMinute = 600_000

    let projectID: String
    let clientEmail: String
    let privateKey: RSAPrivateKey
    let origin: HTTPOrigin
    /// The URL of the endpoint that issues access tokens. The claim `aud` of the assertion is exactly this text.
    let tokenEndpoint: String
    let tokenOrigin: HTTPOrigin
    let tokenPath: String
    let settings: TransportSettings
    let tokenSettings: TransportSettings
    let messagesPerMinute: Int

    init(_ credential: Credential) throws(PushServiceError) {
        let properties = credential.properties.filter { !$0.value.isEmpty }
        guard let projectID = properties[Property.projectID], Self.isProjectID(projectID) else {
            throw Self.refusal("ProjectId must be the project's id, such as my-project-1234.")
        }
        self.projectID = projectID
        guard let email = properties[Property.clientEmail], email.contains("@"),
            email.utf8.count <= 320, email.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Self.refusal("ClientEmail must be the service account's address, client_email in its file.")
        }
        clientEmail = email
        privateKey = try Self.privateKey(properties[Property.privateKey])
        guard let origin = HTTPOrigin(properties[Property.endpoint] ?? Self.productionEndpoint), origin.scheme == .https
        else { throw Self.refusal("Endpoint must be the https address of a server, without a path.") }
        self.origin = origin
        tokenEndpoint = properties[Property.tokenEndpoint] ?? Self.productionTokenEndpoint
        guard let (tokenOrigin, path) = HTTPOrigin.splitting(tokenEndpoint), tokenOrigin.scheme == .https,
            path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw Self.refusal("TokenEndpoint must be an https address with a path, token_uri in the file.") }
        self.tokenOrigin = tokenOrigin
        tokenPath = path
        let authority = try EndpointAuthority.pem(credential)
        settings = EndpointAuthority.settings(authority, to: origin, defaults: [Self.productionEndpoint])
        tokenSettings = EndpointAuthority.settings(
            authority, to: tokenOrigin, defaults: [Self.productionTokenEndpoint])
        guard let pace = Int(properties[Property.messagesPerMinute] ?? "\(Self.productionMessagesPerMinute)"),
            (1...1_000_000_000).contains(pace)
        else { throw Self.refusal("MessagesPerMinute must be a whole number, 1 or more.") }
        messagesPerMinute = pace
    }

    /// Reads the account's private key from PEM text. Line breaks may be written as `\n`, as in the account's file.
    private static func privateKey(_ text: String?) throws(PushServiceError) -> RSAPrivateKey {
        do throws(CryptoError) {
            guard let text else { throw .malformedPrivateKey }
            return try RSAPrivateKey(pem: text.replacing(#"\n"#, with: "\n"))
        } catch {
            throw refusal("PrivateKey must be the service account's private key, private_key in its file: \(error)")
        }
    }

    /// Returns whether a text is a valid project id. The id is checked, because it becomes part of the request's path.
    ///
    /// Some old ids begin with a domain and a colon.
    static func isProjectID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badCredential, sentence)
    }

    /// The properties that a hub's credential for FCM can have, with their flags on the command line.
    static let fields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(
            name: Property.privateKey, flag: "private-key-file", help: "The service account's private key, as PEM.",
            isSecret: true, isFile: true, fileMember: member("private_key")),
        .init(
            name: Property.projectID, flag: "project-id", help: "The id of the project.",
            fileMember: member("project_id")),
        .init(
            name: Property.clientEmail, flag: "client-email", help: "The service account's address.",
            fileMember: member("client_email")),
        .init(
            name: Property.tokenEndpoint, flag: "token-endpoint", help: "Where access tokens are given.",
            isExtension: true, isAddress: true, fileMember: member("token_uri")),
        .init(
            name: Property.endpoint, flag: "endpoint", help: "The https address of the service.", isExtension: true,
            isAddress: true),
        EndpointAuthority.field("The authority to trust at the endpoints instead of the system's."),
        .init(
            name: Property.messagesPerMinute, flag: "messages-per-minute",
            help: "The project's quota; 600000 where its owner has not asked for more.", isExtension: true),
    ]

    private static func member(_ name: String) -> PushPlatformDescriptor.CredentialForm.Field.FileMember {
        .init(
            flag: "service-account-file", help: "The service account's JSON file, which has all that is needed.",
            member: name)
    }
}
