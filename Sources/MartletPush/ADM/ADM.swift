public import MartletCore
public import MartletHTTP
public import MartletModel

/// Amazon Device Messaging (PushServices.md, section 6).
public struct ADM: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "adm"), format: "adm",
        registration: .init(element: "Adm", handleElements: ["AdmRegistrationId"]),
        credential: .init(element: "AdmCredential", index: 10, fields: credentialFields),
        outcomeCounts: .init(element: "AdmOutcomeCounts", index: 4),
        fieldPrefixes: [], payloadLimit: 6144, look: "tablet")

    static let collapseMember = "consolidationKey"
    /// The member of an answer that holds the device's current registration id.
    static let idMember = "registrationID"
    private static let lifetimeMember = "expiresAfter"
    /// The allowed lifetimes of a message, in seconds.
    private static let lifetimes: ClosedRange<Int64> = 1...2_678_400

    static let scope = "messaging:push"
    static let messageType = "com.amazon.device.messaging.ADMMessage@1.0"
    static let resultType = "com.amazon.device.messaging.ADMSendResult@1.0"

    private let credential: ADMCredential

    public init(credential: Credential) throws(PushServiceError) {
        self.credential = try ADMCredential(credential)
    }

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration id")
        return handle.text
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
        let payload = try Payload.object(message)
        guard payload["data"].map({ $0.object != nil }) ?? true else {
            throw PushServiceError(.badMessage, "\"data\" must be a JSON object.")
        }
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var data = Payload.members(naming: id, on: ADM.self)
        data["message"] = .string(text)
        return try Payload.message(["data": .object(data)], on: ADM.self)
    }

    /// Creates a message that carries data in its member `data`. The app shows the alert, if there is one.
    ///
    /// A message with an alert gets the priority `high`, because the service wakes the app immediately only for that
    /// priority.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        var payload: [String: JSON] = ["data": .object(Payload.members(of: data, alertAs: "message"))]
        if data.alert != nil { payload["priority"] = "high" }
        return try Payload.message(.object(payload), on: ADM.self)
    }

    public static func collapseKey(of message: Message) -> String? {
        guard message.body.contains(collapseMember.utf8) else { return nil }
        return (try? Payload.object(message))?[collapseMember]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Sets the lifetime of a message, so that the service discards the message at the notification's expiry.
    ///
    /// A message that already states a lifetime, or that would become too large with one, is not changed.
    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message {
        guard var payload = (try? Payload.object(message))?.object, payload[lifetimeMember] == nil else {
            return message
        }
        payload[lifetimeMember] = .integer(Payload.seconds(until: expiry, from: now, within: lifetimes))
        let limited = Message(body: JSON.object(payload).bytes, fields: message.fields)
        return limited.body.count <= descriptor.payloadLimit ? limited : message
    }

    public func authorization(at now: Timestamp) -> Authorization {
        OAuthToken.exchange(
            [
                "grant_type": "client_credentials", "scope": Self.scope, "client_id": credential.clientID,
                "client_secret": credential.clientSecret,
            ], to: credential.tokenOrigin, path: credential.tokenPath, settings: credential.tokenSettings)
    }

    public func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        OAuthToken.answer(response, at: now)
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) -> RequestBatch.Shared {
        var fields = HTTPFields()
        if let token { fields.append(HTTPField("authorization", "Bearer \(token)", indexing: .never)) }
        fields.append(HTTPField("content-type", "application/json"))
        fields.append(HTTPField("accept", "application/json"))
        fields.append(HTTPField("x-amzn-type-version", Self.messageType))
        fields.append(HTTPField("x-amzn-accept-type", Self.resultType))
        return RequestBatch.Shared(
            origin: credential.sendOrigin, settings: credential.sendSettings, pathPrefix: credential.sendPath.prefix,
            fields: fields, body: message.body,
            // An answer with a different id is not a plain success, because that id replaces the device's handle.
            plainSuccess: .jsonOfPath(member: Self.idMember, pathSuffix: credential.sendPath.suffix))
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) {
        batch.append { writer in
            writer.part {
                PercentEncoding.append(handle, to: &$0)
                $0 += credential.sendPath.suffix.utf8
            }
        }
    }

    private static let credentialFields: [PushPlatformDescriptor.CredentialForm.Field] = [
        .init(name: ADMCredential.Property.clientID, flag: "client-id", help: "The client id."),
        .init(
            name: ADMCredential.Property.clientSecret, flag: "client-secret", help: "The client secret.", isSecret: true
        ),
        .init(
            name: ADMCredential.Property.tokenEndpoint, flag: "token-endpoint", help: "Where access tokens are had.",
            isAddress: true, impliedValue: ADMCredential.tokenEndpoint),
        .init(
            name: ADMCredential.Property.sendURL, flag: "send-url",
            help: "Where messages go; {0} stands for the registration id.", isAddress: true,
            impliedValue: ADMCredential.sendURL),
        EndpointAuthority.field("The authority to trust at these addresses instead of the system's."),
    ]
}
