public import MartletCore
public import MartletModel

/// Firebase Cloud Messaging as its HTTP v1 API speaks of it (push services document, section 2).
public enum FCM: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "fcmv1"), format: "fcmv1", registrationElement: "FcmV1",
        handleElements: ["FcmV1RegistrationId"], credentialElement: "FcmV1Credential", credentialPlace: 13,
        credentialFields: [
            .init(
                name: "PrivateKey", flag: "private-key-file", help: "The service account's private key, as PEM.",
                isSecret: true, isFile: true),
            .init(name: "ProjectId", flag: "project-id", help: "The id of the project."),
            .init(name: "ClientEmail", flag: "client-email", help: "The service account's address."),
        ],
        outcomeCountsElement: "FcmV1OutcomeCounts", outcomeCountsPlace: 7, fieldPrefixes: [], payloadLimit: dataLimit)

    /// The largest data of a message, in bytes of its names and values.
    static let dataLimit = 4096

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration token")
        return handle.text
    }

    /// One client leaves out the envelope around its messages.
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        guard let payload = try? Payload.object(message), payload["message"] == nil else { return message }
        var message = message
        message.body = Array(#"{"message":"#.utf8) + message.body + Array("}".utf8)
        return message
    }

    /// The payload is a message, in its envelope or without.
    public static func check(_ message: Message) throws(PushServiceError) {
        let payload = try Payload.object(message)
        let content = payload["message"] ?? payload
        guard case .object = content else {
            throw PushServiceError(.badMessage, "\"message\" must be a JSON object.")
        }
        for data in [content["data"], content["android"]?["data"]] {
            guard let data else { continue }
            guard let object = data.object, object.values.allSatisfy({ $0.string != nil }) else {
                throw PushServiceError(.badMessage, "\"data\" must be a JSON object whose values are texts.")
            }
            try checkSize(of: data)
        }
    }

    public static func message(showing text: String) throws(PushServiceError) -> Message {
        try Payload.message(["message": ["data": ["message": .string(text)]]], on: FCM.self)
    }

    /// Checks the size of the data of a message, which is what the service counts.
    static func checkSize(of data: JSON?) throws(PushServiceError) {
        let size = (data?.object ?? [:]).reduce(0) { sum, member in
            sum + member.key.utf8.count + (member.value.string?.utf8.count ?? member.value.bytes.count)
        }
        guard size <= dataLimit else {
            throw PushServiceError(
                .messageTooLarge, "The data has \(size) bytes in names and values; a message may have \(dataLimit).")
        }
    }
}
