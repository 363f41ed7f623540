public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// Web Push, the protocol of browsers' push services (RFC 8030, 8291 and 8292; PushServices.md, section 5).
///
/// Every subscription names the address of its own push service. An instance sends to the subscriptions at one origin,
/// which `at(_:)` sets.
public struct WebPush: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "browser"), aliases: ["webpush"], format: "browser",
        registration: .init(
            element: "Browser", handleElements: ["Endpoint", "P256DH", "Auth"], hiddenFrom: ["api-origin=dotnetsdk"]),
        credential: .init(element: "BrowserCredential", index: 14, fields: credentialFields),
        outcomeCounts: .init(element: "BrowserOutcomeCounts", index: 9),
        fieldPrefixes: WebPushHeaders.fieldNames, payloadLimit: plaintextLimit, look: "browser")

    public static let handlesAreAddresses = true
    public static let tokensAreForOneOrigin = true

    /// The maximum size of a message before encryption, in bytes.
    ///
    /// Every service must accept a body of 4,096 bytes. Of these, the encryption needs 103 bytes for its header, tag
    /// and delimiter.
    static let plaintextLimit = 3993
    /// The label for deriving the keys of messages (RFC 8291, section 3.4).
    static let encryptionLabel = "WebPush: info"

    private let credential: WebPushCredential
    private let encryptors: MessageEncryptorPool
    private var origin: HTTPOrigin?

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try WebPushCredential(credential)
        encryptors = MessageEncryptorPool(label: Self.encryptionLabel)
    }

    public static func generatedCredential() throws(PushServiceError) -> [String: String] {
        try WebPushCredential.generate()
    }

    public func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin {
        let endpoint = String(decoding: handle.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let origin = HTTPOrigin.splitting(endpoint)?.origin else { throw Self.noAddress }
        guard credential.allows(origin) else {
            throw PushServiceError(
                .badHandle, "The hub's credential does not allow subscriptions of this push service.")
        }
        return origin
    }

    public func at(_ origin: HTTPOrigin) -> WebPush {
        var service = self
        service.origin = origin
        return service
    }

    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        guard let origin else { throw Self.noAddress }
        do throws(CryptoError) {
            let token = try VAPIDToken.sign(
                audience: origin, subject: credential.subject, at: now, with: credential.privateKey)
            return .token(
                AuthorizationToken(
                    value: token, renewableAt: now + VAPIDToken.minimumAge, expiresAt: now + VAPIDToken.maximumAge))
        } catch {
            throw PushServiceError(.badCredential, "The proof of the sender cannot be signed: \(error)")
        }
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        guard let origin else { throw Self.noAddress }
        let headers = try WebPushHeaders(message)
        var fields = HTTPFields()
        if let token {
            fields.append(
                HTTPField("authorization", "vapid t=\(token), k=\(credential.publicKeyText)", indexing: .never))
        }
        let remaining = max(0, (expiry - now).components.seconds)
        // The values of `ttl` and `topic` differ with almost every message. They are not indexed, because they would
        // only push more useful fields out of HPACK's dynamic table.
        fields.append(HTTPField("ttl", String(headers.timeToLive ?? remaining), indexing: .never))
        if let urgency = headers.urgency { fields.append(HTTPField("urgency", urgency.rawValue)) }
        if let topic = headers.topic { fields.append(HTTPField("topic", topic, indexing: .never)) }
        fields.append(HTTPField("content-encoding", "aes128gcm"))
        fields.append(HTTPField("content-type", "application/octet-stream"))
        return RequestBatch.Shared(
            origin: origin, settings: credential.settings, pathPrefix: "/", fields: fields)
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        guard let subscription = WebPushSubscription(handle) else {
            throw PushServiceError(.badHandle, "This is not a subscription: an endpoint, a p256dh and an auth.")
        }
        let body: [UInt8]
        do throws(CryptoError) {
            body = try encryptors.encrypt(message.body, for: subscription.point, secret: subscription.secret)
        } catch {
            throw PushServiceError(.badHandle, "A message cannot be encrypted for this subscription: \(error)")
        }
        batch.append { writer in
            writer.part { $0 += subscription.pathAfterSlash }
            writer.part { $0 += body }
        }
    }

    private static let noAddress = PushServiceError(.badHandle, "The subscription names no address.")

    private static let credentialFields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(
            name: WebPushCredential.Property.subject, flag: "subject",
            help: "Who sends, as a mailto or https address. One push service refuses senders who do not say."),
        .init(
            name: WebPushCredential.Property.publicKey, flag: "vapid-public-key", help: "The public key, in base64url."),
        .init(
            name: WebPushCredential.Property.privateKey, flag: "vapid-private-key",
            help: "The private key, in base64url.", isSecret: true),
        .init(
            name: WebPushCredential.Property.allowedHosts, flag: "allowed-hosts",
            help: "The push services to send to, such as *.push.services.mozilla.com; all where none is named.",
            isExtension: true),
        .init(
            name: WebPushCredential.Property.endpointAuthority, flag: "ca-file",
            help: "The authority to trust at the endpoints instead of the system's.", isFile: true,
            isExtension: true),
    ]
}
