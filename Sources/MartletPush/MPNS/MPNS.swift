public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// Microsoft Push Notification Service, for Windows Phone (PushServices.md, section 4).
///
/// Every channel has an address of its own. An instance sends to the channels at one origin, which `at(_:)` sets.
public struct MPNS: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "mpns"), aliases: ["windowsphone"], format: "windowsphone",
        registration: .init(
            element: "Mpns", handleElements: ["ChannelUri"], hasSecondaryTiles: true,
            templateElements: [
                .headers(collection: "MpnsHeaders", item: "MpnsHeader", prefix: "X-", isAlwaysWritten: false), .name,
            ]),
        templateFormat: .xml,
        credential: .init(element: "MpnsCredential", index: 5, fields: credentialFields),
        outcomeCounts: .init(element: "MpnsOutcomeCounts", index: 1),
        fieldPrefixes: ["x-windowsphone-", "x-notificationclass"], payloadLimit: 3072, look: "phone-c")

    public static let handlesAreAddresses = true

    static let address = ChannelAddress(domain: "notify.live.net", allowsHTTP: true)

    private let credential: MPNSCredential
    private var origin: HTTPOrigin?

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try MPNSCredential(credential)
    }

    public func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin {
        try Self.address.origin(of: handle, allowsLoopback: credential.allowsLoopback)
    }

    public func at(_ origin: HTTPOrigin) -> MPNS {
        var service = self
        service.origin = origin
        return service
    }

    public var expiresAt: Timestamp? {
        credential.certificate.map { Timestamp(seconds: Int64($0.identity.certificate.notAfter)) }
    }

    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        if let certificate = credential.certificate?.identity.certificate,
            now.seconds > Int64(certificate.notAfter)
        {
            throw PushServiceError(.badCredential, "MpnsCertificate has expired; renew it and set it again.")
        }
        return .none
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        guard let origin else { throw Self.noAddress }
        let message = Self.normalized(message, at: now)
        var fields: HTTPFields = ["content-type": "text/xml"]
        for name in [Self.targetField, Self.classField] {
            fields[name.lowercased()] = message.fields[name.lowercased()]
        }
        return RequestBatch.Shared(
            origin: origin, settings: credential.settings(for: origin), pathPrefix: "/", fields: fields,
            itemFieldNames: ["x-messageid"], body: message.body,
            plainSuccess: .field(name: "x-notificationstatus", value: "received"))
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        guard let path = HandleRules.pathAfterSlash(of: handle) else { throw Self.noAddress }
        batch.append { writer in
            writer.part { $0 += path }
            writer.part { id.appendUUID(to: &$0) }
        }
    }

    private static let noAddress = PushServiceError(.badHandle, "The channel URI names no address.")

    private static let credentialFields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(
            name: MPNSCredential.Property.certificate, flag: "certificate-file",
            help: "A PEM file with a certificate and its key, for channels that were opened with it.", isSecret: true,
            isFile: true),
        .init(
            name: MPNSCredential.Property.certificateKey, flag: "certificate-password",
            help: "The password of a certificate in PKCS#12 form.", isSecret: true),
        EndpointAuthority.field("The authority of a simulated service on this machine."),
    ]
}
