public import MartletCore
public import MartletModel

extension FCM {
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration token")
        return handle.text
    }

    /// Rewrites a message in the canonical form of `FCMMessage.canonical(_:options:)`.
    ///
    /// Adds the envelope `{"message":…}`, which the Python package `azure-notification-hub-unofficial` omits
    /// (NotificationHubs.md, section 6.2). Removes the message's target, because the hub decides who gets the message.
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        guard let payload = try? Payload.object(message).object else { return message }
        var options = payload
        options["message"] = nil
        guard let content = payload["message"] else { return with(message, payload, options: [:]) }
        guard let content = content.object else { return message }
        return with(message, content, options: options)
    }

    private static func with(_ message: Message, _ content: [String: JSON], options: [String: JSON]) -> Message {
        var message = message
        message.body = FCMMessage.canonical(
            content.filter { !FCMMessage.targetNames.contains($0.key) }, options: options)
        return message
    }

    public static func dropped(from message: Message) -> [String] {
        guard let payload = try? Payload.object(message) else { return [] }
        let names = (payload["message"] ?? payload).object?.keys.filter(FCMMessage.targetNames.contains) ?? []
        return names.sorted()
    }

    /// Checks a payload, with or without the envelope `{"message":…}`.
    public static func check(_ message: Message) throws(PushServiceError) {
        let payload = try Payload.object(message)
        let content = payload["message"] ?? payload
        guard case .object = content else {
            throw PushServiceError(.badMessage, "\"message\" must be a JSON object.")
        }
        try FCMMessage.check(content)
    }

    /// Returns the size of the names and values that devices receive, in bytes.
    public static func payloadSize(of message: Message) -> Int {
        guard let payload = try? Payload.object(message) else { return message.body.count }
        return FCMMessage.size(of: payload["message"] ?? payload)
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var data = Payload.members(naming: id, on: FCM.self)
        data["message"] = .string(text)
        return try Payload.message(["message": ["data": .object(data)]], on: FCM.self)
    }

    /// Creates a message that carries data. The app shows the alert, if there is one.
    ///
    /// A message with an alert has high priority, because the service wakes the app immediately only for that priority.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        var message: [String: JSON] = ["data": .object(Payload.members(of: data, alertAs: "message"))]
        if data.alert != nil { message["android"] = ["priority": "HIGH"] }
        return try Payload.message(["message": .object(message)], on: FCM.self)
    }
}

// MARK: Expiry and collapse key

extension FCM {
    /// Returns the collapse key of a message; nil if the message has no key for Android.
    ///
    /// A message may have different keys for Android, Apple devices and browsers. It replaces another message only if
    /// all three keys are equal, so the three are combined into one key.
    public static func collapseKey(of message: Message) -> String? {
        guard message.body.contains("collapse_key".utf8), let content = try? Payload.object(message)["message"],
            let key = content["android"]?["collapse_key"]?.string, !key.isEmpty
        else { return nil }
        return Payload.key([
            key, header("apns-collapse-id", of: content["apns"]) ?? "", header("topic", of: content["webpush"]) ?? "",
        ])
    }

    /// Sets the expiry for Android, Apple devices and browsers, unless the sender has set it.
    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message {
        guard var options = (try? Payload.object(message))?.object,
            var content = options.removeValue(forKey: "message")?.object
        else { return message }
        let seconds = Payload.seconds(until: expiry, from: now, within: 0...Int64(FCMMessage.timeToLiveLimit))
        var android = content["android"]?.object ?? [:]
        if android["ttl"] == nil { android["ttl"] = .string("\(seconds)s") }
        content["android"] = .object(android)
        setHeader("apns-expiration", String(max(0, expiry.seconds)), of: "apns", in: &content)
        setHeader("TTL", String(seconds), of: "webpush", in: &content)
        return Message(body: FCMMessage.canonical(content, options: options), fields: message.fields)
    }

    /// Returns a header from the member `apns` or `webpush` of a message.
    /// - Parameter name: The name of the header in lower case.
    private static func header(_ name: String, of part: JSON?) -> String? {
        part?["headers"]?.object?.first { $0.key.lowercased() == name }?.value.string
    }

    /// Sets a header in the member `apns` or `webpush` of a message, unless the sender has set it.
    private static func setHeader(_ name: String, _ value: String, of part: String, in content: inout [String: JSON]) {
        guard header(name.lowercased(), of: content[part]) == nil else { return }
        var members = content[part]?.object ?? [:]
        var headers = members["headers"]?.object ?? [:]
        headers[name] = .string(value)
        members["headers"] = .object(headers)
        content[part] = .object(members)
    }
}
