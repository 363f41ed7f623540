public import MartletCore
public import MartletModel

extension APNs {
    /// The allowed number of hexadecimal digits of a device token.
    ///
    /// The range is wide, because Apple does not guarantee a length, and Azure Notification Hubs accepts a token of any
    /// length. Only APNs knows whether a token belongs to a device. A prefix before the digits (`APNsTokenKind`) is not
    /// counted.
    static let tokenLengths = 2...512

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard let (kind, digits) = APNsTokenKind.split(handle.parts.first ?? "") else {
            let marks = APNsTokenKind.allCases.map { "\($0.rawValue):" }.joined(separator: ", ")
            throw PushServiceError(.badHandle, "What a device token is for is said in front by one of \(marks).")
        }
        guard handle.parts.count == 1, let token = canonicalToken(digits) else {
            throw PushServiceError(
                .badHandle,
                "A device token is written in hexadecimal digits, an even number of them, at most "
                    + "\(tokenLengths.upperBound).")
        }
        return kind.map { "\($0.rawValue):\(token)" } ?? token
    }

    /// Returns a device token in lower case; nil if the text is not an even number of hexadecimal digits within
    /// `tokenLengths`.
    static func canonicalToken(_ text: some StringProtocol) -> String? {
        let digits = text.utf8
        guard tokenLengths.contains(digits.count), digits.count % 2 == 0 else { return nil }
        let token = text.lowercased()
        return token.utf8.allSatisfy(isHexadecimal) ? token : nil
    }

    static func isHexadecimal(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowercased(character))
    }

    /// Replaces the hub's own expiry field by the field `apns-expiration`. If the message already has
    /// `apns-expiration`, that field is kept and the hub's field is only removed.
    ///
    /// An expiry that cannot be parsed is ignored, because clients write it in many forms (NotificationHubs.md, section
    /// 6.2).
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        var message = message
        for name in APNsHeaders.expiryFields {
            guard let text = message.fields.removeValue(forKey: name), message.fields["apns-expiration"] == nil,
                message.fields["x-apns-expiration"] == nil
            else { continue }
            message.fields["apns-expiration"] = APNsExpiry.seconds(text, at: now).map(String.init)
        }
        return message
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        let headers = try APNsHeaders(message)
        let limit = headers.pushType.payloadLimit
        guard message.body.count <= limit else {
            throw PushServiceError(
                .messageTooLarge,
                "The payload has \(message.body.count) bytes; a push of type \(headers.pushType.rawValue) may have "
                    + "\(limit).")
        }
        try check(try Payload.object(message), of: headers.pushType)
    }

    /// Checks that the payload has the members that its push type requires. APNs accepts a payload without these
    /// members, but the device discards such a payload.
    private static func check(_ payload: JSON, of type: APNsPushType) throws(PushServiceError) {
        switch type {
        case .liveactivity: try APNsLiveActivity.check(payload)
        case .widgets, .controls:
            guard payload["aps"]?["content-changed"] == true else {
                throw PushServiceError(
                    .badMessage,
                    "The payload of a push of type \(type.rawValue) has aps.content-changed, which is true.")
            }
        default: break
        }
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var payload = Payload.members(naming: id, on: APNs.self)
        payload["aps"] = ["alert": .string(text)]
        return try Payload.message(.object(payload), on: APNs.self)
    }

    /// Creates a message that carries data. The message is an alert if the data contains an alert text, and otherwise
    /// silent.
    ///
    /// An alert has `mutable-content`, so that the app's notification service extension may replace it. A silent
    /// message states its push type. Otherwise a member `sound`, even an empty one, would turn the message into an
    /// alert.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        var aps: [String: JSON] = [:]
        var fields: [String: String] = [:]
        if let alert = data.alert {
            aps["alert"] = .string(alert)
            aps["mutable-content"] = 1
        } else {
            aps["content-available"] = 1
            fields["apns-push-type"] = APNsPushType.background.rawValue
            fields["apns-priority"] = String(APNsPriority.powerAware.rawValue)
        }
        aps["sound"] = data.sound.map(JSON.string)
        var payload = Payload.members(of: data)
        payload["aps"] = .object(aps)
        return try Payload.message(.object(payload), fields: fields, on: APNs.self)
    }
}

extension APNs {
    public static func collapseKey(of message: Message) -> String? { APNsHeaders.collapseKey(of: message) }
}
