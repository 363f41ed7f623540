public import MartletCore
public import MartletHTTP
public import MartletModel

/// Windows Push Notification Services (PushServices.md, section 3).
///
/// Every channel has an address of its own. An instance sends to the channels at one origin, which `at(_:)` sets. One
/// access token is valid at all origins.
public struct WNS: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "wns"), aliases: ["windows"], format: "windows",
        registration: .init(
            element: "Windows", handleElements: ["ChannelUri"], hasSecondaryTiles: true,
            templateElements: [
                .headers(collection: "WnsHeaders", item: "WnsHeader", prefix: "X-WNS-", isAlwaysWritten: true), .name,
            ]),
        templateFormat: .xml,
        credential: .init(element: "WnsCredential", index: 2, fields: credentialFields),
        outcomeCounts: .init(element: "WnsOutcomeCounts", index: 2),
        fieldPrefixes: ["x-wns-"], payloadLimit: 5000, look: "desktop")

    public static let handlesAreAddresses = true

    static let address = ChannelAddress(domain: "notify.windows.com", allowsHTTP: false)

    private let credential: WNSCredential
    private var origin: HTTPOrigin?

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try WNSCredential(credential)
    }

    public func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin {
        try Self.address.origin(of: handle, allowsLoopback: credential.allowsLoopback)
    }

    public func at(_ origin: HTTPOrigin) -> WNS {
        var service = self
        service.origin = origin
        return service
    }

    public func authorization(at now: Timestamp) -> Authorization {
        OAuthToken.exchange(
            [
                "grant_type": "client_credentials", "client_id": credential.clientID,
                "client_secret": credential.secretKey, "scope": credential.scope,
            ], to: credential.tokenOrigin, path: credential.tokenPath, settings: credential.tokenSettings)
    }

    public func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        OAuthToken.answer(response, at: now)
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        guard let origin else { throw Self.noAddress }
        guard let type = Self.type(of: message) else { throw Self.noType }
        var fields = HTTPFields()
        if let token { fields.append(HTTPField("authorization", "Bearer \(token)", indexing: .never)) }
        let contentType = type == Self.rawType ? "application/octet-stream" : "text/xml"
        fields.append(HTTPField("content-type", contentType))
        fields.append(HTTPField(Self.typeField, type))
        for (name, value) in message.fields.sorted(by: { $0.key < $1.key })
        where name != Self.typeField.lowercased() && !value.isEmpty {
            fields.append(HTTPField(name, value))
        }
        return RequestBatch.Shared(
            origin: origin, settings: credential.channelSettings, pathPrefix: "/", fields: fields, body: message.body,
            plainSuccess: .field(name: "x-wns-status", value: "received"))
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        guard let path = HandleRules.pathAfterSlash(of: handle) else { throw Self.noAddress }
        batch.append { writer in writer.part { $0 += path } }
    }

    private static let noAddress = PushServiceError(.badHandle, "The channel URI names no address.")

    private static let credentialFields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(
            name: WNSCredential.Property.packageSID, flag: "package-sid", help: "The package security identifier.",
            kind: "package"),
        .init(
            name: WNSCredential.Property.secretKey, flag: "secret-key", help: "The client secret.", isSecret: true),
        .init(
            name: WNSCredential.Property.tokenEndpoint, flag: "token-endpoint", help: "Where access tokens are had.",
            isAddress: true, impliedValue: WNSCredential.liveEndpoint),
        .init(
            name: WNSCredential.Property.tenantID, flag: "tenant-id",
            help: "The directory of an app that has no package security identifier.", isExtension: true,
            kind: "directory"),
        .init(
            name: WNSCredential.Property.applicationID, flag: "application-id",
            help: "The application's id in that directory.", isExtension: true, kind: "directory"),
        EndpointAuthority.field("The authority of a simulated service on this machine."),
    ]
}
