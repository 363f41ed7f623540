public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// Apple Push Notification service over HTTP/2 (PushServices.md, section 1).
public struct APNs: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "apns"), aliases: ["apple"], format: "apple",
        registration: .init(
            element: "Apple", handleElements: ["DeviceToken"],
            templateElements: [
                .option(Option.expiry, field: "servicebusnotification-apns-expiry", isAlwaysWritten: true), .name,
                .option(Option.priority, field: "apns-priority", isAlwaysWritten: false),
                .headers(collection: "ApnsHeaders", item: "ApnsHeader", prefix: "apns-", isAlwaysWritten: true),
            ]),
        credential: .init(element: "ApnsCredential", index: 0, fields: credentialFields),
        outcomeCounts: .init(element: "ApnsOutcomeCounts", index: 0),
        fieldPrefixes: ["apns-", "x-apns-", "servicebusnotification-apns"],
        payloadLimit: APNsPushType.voip.payloadLimit, look: "phone-a"
    )

    public static let slowsConnectionsOfStaleDevices = true

    static let devicePath = "/3/device/"

    private let credential: APNsCredential

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try APNsCredential(credential)
    }

    public var expiresAt: Timestamp? {
        guard case .certificate(let identity, _) = credential.proof else { return nil }
        return Timestamp(seconds: Int64(identity.certificate.notAfter))
    }

    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        switch credential.proof {
        case .token(let keyID, let teamID, let key):
            do throws(CryptoError) {
                let token = try APNsProviderToken.sign(keyID: keyID, teamID: teamID, at: now, with: key)
                return .token(
                    AuthorizationToken(
                        value: token, renewableAt: now + APNsProviderToken.minimumAge,
                        expiresAt: now + APNsProviderToken.maximumAge))
            } catch {
                throw PushServiceError(.badCredential, "The provider token cannot be signed: \(error)")
            }
        case .certificate(let identity, _):
            guard now.seconds <= Int64(identity.certificate.notAfter) else {
                throw PushServiceError(.badCredential, "ApnsCertificate has expired; renew it and set it again.")
            }
            return .none
        }
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        let headers = try APNsHeaders(message)
        try checkProof(allows: headers.pushType)
        var fields = HTTPFields()
        if let token { fields.append(HTTPField("authorization", "bearer \(token)", indexing: .never)) }
        fields.append(HTTPField("apns-topic", headers.topic ?? credential.bundleID + headers.pushType.topicSuffix))
        fields.append(HTTPField("apns-push-type", headers.pushType.rawValue))
        fields.append(HTTPField("apns-priority", String(headers.priority.rawValue)))
        // The values of `apns-expiration` and `apns-collapse-id` differ with every message. They are not indexed,
        // because they would only push more useful fields out of HPACK's dynamic table.
        let expiration = headers.expiration ?? max(0, expiry.seconds)
        fields.append(HTTPField("apns-expiration", String(expiration), indexing: .never))
        if let collapseID = headers.collapseID {
            fields.append(HTTPField("apns-collapse-id", collapseID, indexing: .never))
        }
        var shared = RequestBatch.Shared(
            origin: credential.origin, settings: settings, pathPrefix: Self.devicePath, fields: fields,
            itemFieldNames: ["apns-id"], body: message.body)
        shared.ignoredAnswerFields = Self.ignoredAnswerFields
        return shared
    }

    /// Each answer repeats the `apns-id` of its request. Martlet does not need it there.
    private static let ignoredAnswerFields = ["apns-id"]

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        let digits = try APNsTokenKind.digits(of: handle, for: message, in: batch.shared)
        batch.append { writer in
            writer.part { path in
                let start = path.count
                path.append(contentsOf: digits)
                for index in start..<path.count { path[index] = Self.lowercased(path[index]) }
            }
            writer.part { id.appendUUID(to: &$0) }
        }
    }

    public func application(of message: Message) -> String {
        ["topic", "push-type"].compactMap { message.fields["apns-\($0)"] ?? message.fields["x-apns-\($0)"] }
            .joined(separator: " ")
    }

    /// The maximum number of connections.
    ///
    /// Apple asks for few connections that last long, but accepts as many as are needed. 64 connections are enough:
    /// with a thousand requests in flight and a round trip of 30 ms, a single connection carries 33,000 pushes a
    /// second.
    private static let connectionLimit = 64

    private var settings: TransportSettings {
        switch credential.proof {
        case .token(let keyID, let teamID, _):
            // The service ties a connection to the team and key of its first push, so each team and key get connections
            // of their own.
            TransportSettings(
                version: .http2, trustedCertificatesPEM: credential.trustedCertificatesPEM,
                partition: "\(teamID)/\(keyID)", connectionLimit: Self.connectionLimit)
        case .certificate(_, let pem):
            TransportSettings(
                version: .http2, trustedCertificatesPEM: credential.trustedCertificatesPEM, clientIdentityPEM: pem,
                connectionLimit: Self.connectionLimit)
        }
    }

    private func checkProof(allows type: APNsPushType) throws(PushServiceError) {
        switch credential.proof {
        case .token where !type.allowsToken, .certificate where !type.allowsCertificate:
            throw PushServiceError(
                .badMessage, "A push of type \(type.rawValue) cannot be sent with this kind of credential.")
        default: break
        }
    }

    static func lowercased(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character | 0x20 : character
    }

    private static let credentialFields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(
            name: APNsCredential.Property.token, flag: "key-file", help: "The .p8 file of the signing key.",
            isSecret: true, isFile: true, kind: "key"),
        .init(name: APNsCredential.Property.keyID, flag: "key-id", help: "The id of the signing key.", kind: "key"),
        .init(name: APNsCredential.Property.teamID, flag: "team-id", help: "The team id.", kind: "key"),
        .init(name: APNsCredential.Property.bundleID, flag: "topic", help: "The app's bundle id."),
        .init(
            name: APNsCredential.Property.certificate, flag: "certificate-file",
            help: "A PEM file with a push certificate and its key, instead of a signing key.",
            isSecret: true, isFile: true, kind: "certificate"),
        .init(
            name: APNsCredential.Property.certificateKey, flag: "certificate-password",
            help: "The password of a certificate in PKCS#12 form.", isSecret: true, kind: "certificate"),
        .init(
            name: APNsCredential.Property.endpoint, flag: "endpoint",
            help:
                "production (the default), sandbox, or an https address: one of Apple's, or any with its own authority.",
            isAddress: true, impliedValue: APNsEndpoint.productionURL),
        .init(
            name: APNsCredential.Property.endpointAuthority, flag: "ca-file",
            help: "The authority to trust at the endpoint instead of the system's.", isFile: true,
            isExtension: true),
    ]
}
