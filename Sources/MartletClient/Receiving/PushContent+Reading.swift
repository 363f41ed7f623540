import MartletModel

extension PushContent {
    /// Reads the `userInfo` of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` or of a
    /// notification's content.
    public init(userInfo: [AnyHashable: Any]) {
        let aps = userInfo["aps"] as? [AnyHashable: Any]
        var alert = PushTexts.Alert()
        if let text = aps?["alert"] as? String {
            alert.body = text
        } else if let parts = aps?["alert"] as? [AnyHashable: Any] {
            alert.title = parts["title"] as? String
            alert.body = parts["body"] as? String
        }
        self.init(PushTexts(alert: alert) { name in Self.text(userInfo[name.rawValue]) })
    }

    /// Reads the data of a push that consists of texts, keyed by name, such as the `data` of an FCM message.
    public init(data: [String: String]) {
        self.init(PushTexts(alert: PushTexts.Alert()) { data[$0.rawValue] })
    }

    /// Reads the body of a push, in the form in which a push service delivers it. The body is JSON, the bare id of a
    /// secure notification, or a toast for WNS or MPNS as the server writes it.
    public init(payload: [UInt8]) {
        guard let json = try? JSON(parsing: payload) else {
            let toast = Toast(payload)
            self = toast.map { .text(TextNotification(title: $0.title, text: $0.text, id: $0.id)) } ?? .other
            return
        }
        if let id = json.integer.flatMap({ Int32(exactly: $0) }), id > 0 {
            self = .secure(SecureReference(id: id))
            return
        }
        let message = json["message"] ?? json
        let data = message["data"] ?? json
        // The object with the texts that the device shows. For most platforms, it is the alert or the notification,
        // which the system itself shows. For Web Push, it is the whole JSON if that has a `body`, because the service
        // worker of the web page shows the JSON unchanged.
        let alert =
            json[PayloadName.aps.rawValue]?["alert"] ?? message["notification"] ?? (json["body"] == nil ? nil : json)
        self.init(
            PushTexts(
                alert: PushTexts.Alert(title: alert?["title"]?.string, body: alert?.string ?? alert?["body"]?.string)
            ) {
                name in
                let value = data[name.rawValue] ?? json[name.rawValue]
                return value?.string ?? value?.integer.map { String($0) }
            })
    }

    private static func text(_ value: Any?) -> String? {
        value as? String ?? (value as? Int).map { String($0) }
    }

    private init(_ texts: PushTexts) {
        let shown = texts.alert.body
        if let id = texts.id(.richID) {
            self = .rich(
                RichReference(
                    id: id, message: texts.named(.richMessage) ?? "", type: texts.named(.richType) ?? "file"))
        } else if let id = texts.id(.secureID) {
            self = .secure(SecureReference(id: id, message: texts.named(.secureMessage)))
        } else if let push = EncryptedPush(texts: texts.all([.encrypted, .encryptedID])) {
            self = .encrypted(
                EncryptedReference(push: push, message: shown, notificationID: texts.named(.notificationID)))
        } else if let text = shown ?? texts.named(.message) {
            self = .text(
                TextNotification(
                    title: texts.alert.title ?? texts.named(.title), text: text, id: texts.named(.notificationID)))
        } else {
            self = .other
        }
    }
}

/// The visible texts of a push, and the members that the server adds to a payload (`PayloadName`). Each platform
/// delivers these texts and members in its own form.
private struct PushTexts {
    struct Alert {
        var title: String?
        var body: String?
    }

    let alert: Alert
    let named: (PayloadName) -> String?

    init(alert: Alert, _ named: @escaping (PayloadName) -> String?) {
        self.alert = alert
        self.named = named
    }

    func all(_ names: [PayloadName]) -> [String: String] {
        var texts: [String: String] = [:]
        for name in names { texts[name.rawValue] = named(name) }
        return texts
    }

    /// Returns the id of content that is stored at the server; nil if the id is missing or invalid.
    func id(_ name: PayloadName) -> Int32? {
        named(name).flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
