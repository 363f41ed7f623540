public import MartletCore
public import MartletModel

extension MPNS {
    /// The field with the class of a notification, a number that states both the type and the time of delivery.
    ///
    /// `targetField` states the type in words.
    static let classField = "X-NotificationClass"
    static let targetField = "X-WindowsPhone-Target"

    /// Returns the key of a channel URI: the URI with its scheme and host in lower case.
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try address.key(of: handle)
    }

    /// Completes and corrects the messages of Azure Notification Hubs' clients. The Java client may send neither a
    /// target nor a class. The target of a tile is `token` in the .NET client, and `tile` in the Java client. The .NET
    /// client declares UTF-16 for a body in UTF-8.
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        var message = message
        let target = message.fields.removeValue(forKey: targetField.lowercased()) ?? ""
        let stated = message.fields[classField.lowercased()].flatMap { $0.isEmpty ? nil : $0 }
        let kind = Kind(target: target) ?? Kind(classNumber: stated) ?? Kind(body: message.body)
        message.fields[targetField.lowercased()] = kind.target
        message.fields[classField.lowercased()] = stated ?? String(kind.firstClass)
        if kind != .raw { message.body = XMLText.withoutFalseDeclaration(message.body) }
        return message
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
        if let text = message.fields[classField.lowercased()], !text.isEmpty { try check(class: text) }
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        let parameter = id.map { "<wp:Param>/?\(notificationIDName)=\($0)</wp:Param>" } ?? ""
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast>"
            + "<wp:Text1>\(XMLText.escaped(text))</wp:Text1>\(parameter)</wp:Toast></wp:Notification>"
        let message = Message(
            body: Array(body.utf8),
            fields: [targetField.lowercased(): "toast", classField.lowercased(): "2"])
        try check(message)
        return message
    }

    /// The maximum size of a raw notification that Martlet creates to carry data, in bytes.
    ///
    /// Sources disagree about the service's limit. This is the smallest limit that any source states. A raw
    /// notification that a sender has built may be larger.
    static let rawLimit = 1024

    /// Creates a raw notification that carries data. The device does not show raw notifications by itself.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        let message = Message(
            body: Payload.raw(data), fields: [classField.lowercased(): String(Kind.raw.firstClass)])
        try Payload.checkSize(message, limit: rawLimit)
        try check(message)
        return message
    }

    // MARK: Templates

    /// Returns the format of a template's body: text for a raw notification, XML for a tile or a toast.
    ///
    /// A template is for raw notifications if it has no target field and its class number is that of a raw
    /// notification.
    public static func format(of template: Template) -> TemplateFormat {
        guard header(targetField, of: template) == nil,
            let number = header(classField, of: template).flatMap({ Int($0) })
        else { return .xml }
        return rawClasses.contains { $0.contains(number) } ? .text : .xml
    }

    public static func checked(_ template: Template) throws(PushServiceError) -> Template {
        guard let text = header(classField, of: template) else {
            throw PushServiceError(.badTemplate, "The template needs the header \(classField).")
        }
        if !TemplateRules.isExpression(text) { try check(class: text) }
        return template
    }

    private static let rawClasses = [3...10, 13...20, 23...31]

    private static func header(_ name: String, of template: Template) -> String? {
        template.headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    private static func check(class text: String) throws(PushServiceError) {
        guard let number = Int(text), (1...31).contains(number) else {
            throw PushServiceError(.badMessage, "\(classField) must be a number from 1 to 31.")
        }
    }
}
