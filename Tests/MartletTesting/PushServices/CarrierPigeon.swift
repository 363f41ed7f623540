public import MartletCore
public import MartletHTTP
public import MartletModel

/// A push service that only tests know, so that tests depend on no real platform. Its handles are called lofts: up to
/// 64 letters and digits, compared without case.
///
/// The meaning of its status codes: 200 delivered; 301 the device has moved to the loft in the body; 400 refused; 401 a
/// new token is needed; 403 bad credential; 404 the device is gone; 407 the credential is unknown, so try this loft
/// again after 15 minutes; 410 the device is gone if the platform is healthy; 413 the message is refused for every
/// loft; 429 try this loft again later; 503 try all lofts again later. 429 and 503 may have a `retry-after` field in
/// seconds.
public struct CarrierPigeon: PushService {
    public static let platform = PlatformID(rawValue: "pigeon")

    private static let home = "https://pigeon.example"

    public static let descriptor = PushPlatformDescriptor(
        platform: platform, aliases: ["dove"], format: "pigeon",
        registration: .init(element: "Pigeon", handleElements: ["Loft"]),
        credential: .init(
            element: "PigeonCredential", index: 100,
            fields: [
                .init(
                    name: "Endpoint", flag: "endpoint", help: "Where pigeons start, as a URL", isAddress: true,
                    impliedValue: home),
                .init(name: "Whistle", flag: "whistle", help: "What pigeons obey", isSecret: true),
                .init(name: "Route", flag: "route", help: "The way that pigeons take", isExtension: true),
            ]),
        outcomeCounts: .init(element: "PigeonOutcomeCounts"),
        fieldPrefixes: ["pigeon-"], payloadLimit: 1000)

    private let origin: HTTPOrigin
    private let whistle: String

    public init(credential: Credential) throws(PushServiceError) {
        guard let whistle = credential.properties["Whistle"], !whistle.isEmpty else {
            throw PushServiceError(.badCredential, "Whistle is missing.")
        }
        guard let origin = HTTPOrigin(credential.properties["Endpoint"] ?? Self.home) else {
            throw PushServiceError(.badCredential, "Endpoint is no URL of a server.")
        }
        self.origin = origin
        self.whistle = whistle
    }

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        let text = handle.text
        guard (1...64).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw PushServiceError(.badHandle, "A loft has 1 to 64 letters and digits.")
        }
        return text.lowercased()
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        guard message.body.count <= descriptor.payloadLimit else {
            throw PushServiceError(.messageTooLarge, "A pigeon carries at most \(descriptor.payloadLimit) bytes.")
        }
        guard !message.body.isEmpty else { throw PushServiceError(.badMessage, "A pigeon carries at least a byte.") }
    }

    /// Returns the value of the field `pigeon-collapse`.
    public static func collapseKey(of message: Message) -> String? { message.fields["pigeon-collapse"] }

    /// Returns the message with its remaining lifetime in seconds in the field `pigeon-seconds`.
    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message {
        var message = message
        message.fields["pigeon-seconds"] = String((expiry - now).components.seconds)
        return message
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        let message = Message(
            body: Array(text.utf8), fields: id.map { ["pigeon-notification": $0.description] } ?? [:])
        try check(message)
        return message
    }

    /// Returns a message with one line of name and value for each text. The alert is in the field `pigeon-alert`.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        let lines = data.texts.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        let message = Message(
            body: Array(lines.utf8), fields: data.alert.map { ["pigeon-alert": $0] } ?? ["pigeon-silent": "yes"])
        try check(message)
        return message
    }

    /// Returns a message whose body is a JSON object. The collapse key is in a field.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var note = composed.data.mapValues(JSON.string)
        note["title"] = composed.title.map(JSON.string)
        note["text"] = composed.text.map(JSON.string)
        note["notificationId"] = .string(id.description)
        return Message(
            body: JSON.object(note).bytes, fields: composed.collapse.map { ["pigeon-collapse": $0] } ?? [:])
    }

    public static func isReserved(dataName: String) -> Bool { dataName == "feather" }

    public static func appearance(of message: Message) -> Appearance? {
        guard let note = try? JSON(parsing: message.body), note.object != nil else { return nil }
        return Appearance(title: note["title"]?.string, text: note["text"]?.string, shownBy: .system)
    }

    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        .token(
            AuthorizationToken(
                value: "\(whistle)-\(now.seconds)", renewableAt: now + .seconds(600), expiresAt: now + .seconds(3600)))
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        var fields: HTTPFields = ["pigeon-until": String(expiry.seconds)]
        if let token { fields.append(HTTPField("authorization", "whistle \(token)", indexing: .never)) }
        for (name, value) in message.fields.sorted(by: { $0.key < $1.key }) { fields.append(HTTPField(name, value)) }
        return RequestBatch.Shared(
            origin: origin, pathPrefix: "/fly/", fields: fields, itemFieldNames: ["pigeon-id"], body: message.body)
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) {
        batch.append { item in
            item.part { $0.append(contentsOf: handle) }
            item.part { id.appendUUID(to: &$0) }
        }
    }

    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let wait = Duration.seconds(response.fields["retry-after"].flatMap { Int64($0) } ?? 1)
        return switch response.status.code {
        case 200: Outcome(.success, reason: response.fields["feather"] ?? "", .accepted)
        case 301:
            Outcome(
                .success, reason: "Moved", .update(PushHandle(String(decoding: response.bytes, as: UTF8.self))))
        case 400: Outcome(.invalidNotificationFormat, reason: "Unreadable", .refuse)
        case 401: Outcome(.invalidCredentials, reason: "StaleWhistle", .reauthorize)
        case 403: Outcome(.invalidCredentials, reason: "WrongWhistle", .stop)
        case 404: Outcome(.badChannel, reason: "NoSuchLoft", .drop(asOf: nil, guarded: false))
        case 407: Outcome(.invalidCredentials, reason: "UnknownWhistle", .retry(after: .seconds(900), scope: .device))
        case 410: Outcome(.expiredChannel, reason: "LoftClosed", .drop(asOf: nil, guarded: true))
        case 413: Outcome(.invalidNotificationSize, reason: "TooHeavy", .refuseAll)
        case 429: Outcome(.channelThrottled, reason: "LoftFull", .retry(after: wait, scope: .device))
        case 503: Outcome(.pnsUnavailable, reason: "Storm", .retry(after: wait, scope: .platform))
        default: Outcome(.unknownError, reason: "Unknown", .refuse)
        }
    }
}
