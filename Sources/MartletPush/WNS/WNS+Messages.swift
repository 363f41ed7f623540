public import MartletCore
public import MartletModel

extension WNS {
    /// The header field that states the type of a notification.
    static let typeField = "X-WNS-Type"

    /// The value of `typeField` for a notification that is only for the app.
    static let rawType = "wns/raw"

    /// Returns the key of a channel URI: the URI with its scheme and host in lower case.
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try address.key(of: handle)
    }

    /// Completes and corrects the messages of Azure Notification Hubs' clients. The Java client sends no type if its
    /// caller has set no headers. The .NET client declares UTF-16 for a body in UTF-8.
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        var message = message
        if message.fields[typeField.lowercased(), default: ""].isEmpty {
            message.fields[typeField.lowercased()] = type(of: message.body)
        }
        if message.fields[typeField.lowercased()]?.lowercased() != rawType {
            message.body = XMLText.withoutFalseDeclaration(message.body)
        }
        return message
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
        guard let type = type(of: message) else { throw noType }
        try check(type: type)
        for name in ["X-WNS-Tag", "X-WNS-Group"] {
            let length = message.fields[name.lowercased(), default: ""].utf8.count
            guard length <= tagLimit else {
                throw PushServiceError(
                    .badMessage, "\(name) has at most \(tagLimit) characters; this one has \(length).")
            }
        }
    }

    /// Returns the type of a message, in lower case. It is the value of `typeField`, or if that is missing, the type
    /// that the body's root element indicates. Returns nil if neither gives a type.
    static func type(of message: Message) -> String? {
        let stated = message.fields[typeField.lowercased()].flatMap { $0.isEmpty ? nil : $0.lowercased() }
        return stated ?? type(of: message.body)
    }

    static let noType = PushServiceError(
        .badMessage, "The root of the body is none of toast, tile and badge: say what it is with \(typeField).")

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        let launch = id.map { " launch=\"\(notificationIDName)=\($0)\"" } ?? ""
        let body =
            "<toast\(launch)><visual><binding template=\"ToastText01\"><text id=\"1\">\(XMLText.escaped(text))</text></binding>"
            + "</visual></toast>"
        let message = Message(body: Array(body.utf8), fields: [typeField.lowercased(): "wns/toast"])
        try check(message)
        return message
    }

    /// Creates a raw notification that carries data.
    ///
    /// The device does not show raw notifications by itself. The message asks the service to store it for a device that
    /// is not connected. Without this request, the service does not store a raw notification.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        let message = Message(
            body: Payload.raw(data), fields: [typeField.lowercased(): rawType, "x-wns-cache-policy": "cache"])
        try check(message)
        return message
    }

    // MARK: Templates

    /// Returns the format of a template's body. The format is text for a raw notification, because the app decides what
    /// it contains. Otherwise the format is JSON if the body begins with a brace, and XML if not.
    ///
    /// A JSON body is accepted even if the notification's type requires XML, because Azure Notification Hubs accepts it
    /// and apps have registered such templates.
    public static func format(of template: Template) -> TemplateFormat {
        if type(of: template)?.lowercased() == rawType { return .text }
        return template.body.utf8.first { !isBlank($0) } == UInt8(ascii: "{") ? .json : .xml
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(byte)
    }

    /// Checks a template, and returns it unchanged, because clients expect to read back the same template that they
    /// wrote.
    ///
    /// A template without a type is accepted if the root element of its body indicates the type. The type is then
    /// determined when a notification is sent. Such templates occur, because the Java client of Azure Notification Hubs
    /// writes no headers if its caller has set none.
    public static func checked(_ template: Template) throws(PushServiceError) -> Template {
        if let type = type(of: template) {
            if !TemplateRules.isExpression(type) { try check(type: type) }
            return template
        }
        guard type(of: template.body.utf8) != nil else {
            throw PushServiceError(
                .badTemplate,
                "The template needs the header \(typeField), as its root is none of toast, tile and badge.")
        }
        return template
    }

    private static func type(of template: Template) -> String? {
        template.headers.first { $0.name.lowercased() == typeField.lowercased() }?.value
    }

    private static func type(of body: some Collection<UInt8>) -> String? {
        switch XMLText.rootName(of: body)?.lowercased() {
        case "toast": "wns/toast"
        case "tile": "wns/tile"
        case "badge": "wns/badge"
        default: nil
        }
    }

    private static func check(type: String) throws(PushServiceError) {
        guard ["wns/toast", "wns/tile", "wns/badge", rawType].contains(type.lowercased()) else {
            throw PushServiceError(
                .badMessage, "\(typeField) must be wns/toast, wns/tile, wns/badge or wns/raw.")
        }
    }
}

// MARK: Expiry and collapse key

extension WNS {
    private static let timeToLiveField = "x-wns-ttl"

    /// The maximum length of a tag and of a group (PushServices.md, section 3.3), in characters.
    static let tagLimit = 16

    /// Returns whether a text is valid as a tag or as a group.
    static func isTag(_ text: String) -> Bool {
        (1...tagLimit).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Returns the collapse key of a message; nil if the message has no tag.
    ///
    /// A notification replaces an older one with the same type, tag and group.
    public static func collapseKey(of message: Message) -> String? {
        guard let tag = message.fields["x-wns-tag"], !tag.isEmpty, let type = type(of: message) else { return nil }
        return Payload.key([type, tag, message.fields["x-wns-group"] ?? ""])
    }

    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message {
        guard message.fields[timeToLiveField, default: ""].isEmpty else { return message }
        var message = message
        message.fields[timeToLiveField] = String(Payload.seconds(until: expiry, from: now, within: 1...(.max)))
        return message
    }
}
