public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// Firebase Cloud Messaging over its HTTP v1 API (PushServices.md, section 2).
///
/// A request states the device's token in its body. So each device gets a different body: the message, with the token
/// inserted at the beginning.
public struct FCM: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "fcmv1"), format: "fcmv1",
        registration: .init(element: "FcmV1", handleElements: ["FcmV1RegistrationId"]),
        credential: .init(element: "FcmV1Credential", index: 13, fields: FCMCredential.fields),
        outcomeCounts: .init(element: "FcmV1OutcomeCounts", index: 7),
        fieldPrefixes: [], payloadLimit: FCMMessage.sizeLimit, look: "phone-b")

    private let credential: FCMCredential

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try FCMCredential(credential)
    }

    public var pace: SendingRate? {
        SendingRate(
            account: "\(credential.origin)/\(credential.projectID)", messagesPerMinute: credential.messagesPerMinute)
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        guard FCMMessage.isCanonical(message.body) else {
            throw PushServiceError(.badMessage, "\"message\" must be a JSON object.")
        }
        var fields = HTTPFields()
        if let token { fields.append(HTTPField("authorization", "Bearer \(token)", indexing: .never)) }
        fields.append(HTTPField("content-type", "application/json; charset=UTF-8"))
        return RequestBatch.Shared(
            origin: credential.origin, settings: credential.settings,
            pathPrefix: "\(Self.pathPrefix)\(credential.projectID)\(Self.pathSuffix)", fields: fields,
            plainSuccess: .json(member: "name"))
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        guard FCMMessage.isCanonical(message.body) else {
            throw PushServiceError(.badMessage, "\"message\" must be a JSON object.")
        }
        batch.append { writer in
            writer.part { _ in }
            writer.part { FCMMessage.append(message.body, to: handle, to: &$0) }
        }
    }

    static let pathPrefix = "/v1/projects/"
    static let pathSuffix = "/messages:send"
}

// MARK: Access tokens

extension FCM {
    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        let assertion: String
        do throws(CryptoError) {
            assertion = try FCMAssertion.sign(
                issuer: credential.clientEmail, audience: credential.tokenEndpoint, at: now, with: credential.privateKey
            )
        } catch {
            throw PushServiceError(.badCredential, "The service account's assertion cannot be signed: \(error)")
        }
        return OAuthToken.exchange(
            ["grant_type": FCMAssertion.grantType, "assertion": assertion], to: credential.tokenOrigin,
            path: credential.tokenPath, settings: credential.tokenSettings)
    }

    public func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        OAuthToken.answer(response, at: now)
    }
}
