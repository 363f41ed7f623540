public import MartletCore
public import MartletModel

extension FCM {
    public static func isReserved(dataName: String) -> Bool { FCMMessage.isReserved(dataName) }

    /// Renders a composed message. A silent message consists of data only.
    ///
    /// In any other message, Android shows title, text and picture. The data is only for the app, which gets it when
    /// the user opens the notification.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var android: [String: JSON] = [:]
        android["collapse_key"] = composed.collapse.map(JSON.string)
        switch composed.priority {
        case .low?: android["priority"] = "NORMAL"
        case .high?: android["priority"] = "HIGH"
        case .normal?, nil: break
        }
        var message = ["data": JSON.object(data(of: composed, id: id, on: FCM.self).mapValues(JSON.string))]
        if !composed.isSilent {
            message["notification"] = .object(notification(of: composed))
            var shown: [String: JSON] = [:]
            shown["sound"] = sound(of: composed).map(JSON.string)
            shown["tag"] = composed.collapse.map(JSON.string)
            if case .number(let number)? = composed.badge { shown["notification_count"] = .integer(Int64(number)) }
            if !shown.isEmpty { android["notification"] = .object(shown) }
        }
        if !android.isEmpty { message["android"] = .object(android) }
        return Message(body: FCMMessage.canonical(message))
    }

    /// Returns the member `notification` of a message, which Android shows without the app.
    static func notification(of message: LocalizedMessage) -> [String: JSON] {
        var notification: [String: JSON] = [:]
        notification["title"] = message.title.map(JSON.string)
        notification["body"] = message.text.map(JSON.string)
        notification["image"] = message.picture.map(JSON.string)
        return notification
    }

    static func data(
        of message: LocalizedMessage, id: NotificationID, on platform: any PushPlatform.Type
    ) -> [String: String] {
        var data = ComposedPayload.texts(of: message, id: id, on: platform)
        if message.badge == .increment { data[ComposedPayload.Name.badge] = "+1" }
        return data
    }

    static func sound(of message: LocalizedMessage) -> String? {
        switch message.sound {
        case .default?: "default"
        case .named(let name)?: name
        case ComposedMessage.Sound.none?, nil: nil
        }
    }

    // MARK: Reading

    /// Returns the appearance of a message on an Android device; nil if it is unknown.
    public static func appearance(of message: Message) -> Appearance? {
        guard let payload = try? Payload.object(message), case .object(let content) = payload["message"] ?? payload,
            content["data"] != nil || content["notification"] != nil || content["android"] != nil
        else { return nil }
        let data = content["android"]?["data"] ?? content["data"]
        let own = content["android"]?["notification"]
        guard content["notification"] != nil || own != nil else { return appearance(ofData: data) }
        func shown(_ name: String) -> String? { own?[name]?.string ?? content["notification"]?[name]?.string }
        // Only the app knows the texts for localization keys, so the appearance of such a notification is unknown.
        guard own?["title_loc_key"] == nil, own?["body_loc_key"] == nil else { return nil }
        var appearance = Appearance(
            title: shown("title"), subtitle: data?[ComposedPayload.Name.subtitle]?.string, text: shown("body"),
            picture: shown("image"), link: data?[ComposedPayload.Name.link]?.string,
            actions: ComposedPayload.actionTitles(in: data?[ComposedPayload.Name.actions]), sound: shown("sound"),
            shownBy: .system, textLines: 2)
        ComposedPayload.setBadge(own?["notification_count"] ?? data?[ComposedPayload.Name.badge], of: &appearance)
        if !appearance.actions.isEmpty || appearance.badgeStep != nil { appearance.add(.actionsNeedTheSDK) }
        if appearance.subtitle != nil { appearance.add(.subtitleNotShown) }
        if appearance.sound != nil { appearance.add(.soundIsTheChannels) }
        return appearance
    }

    /// Returns the appearance of a message without the member `notification`. The app itself shows such a message. Apps
    /// that follow Microsoft's tutorials show the members `title` and `message` of the data.
    private static func appearance(ofData data: JSON?) -> Appearance? {
        guard case .object(let data)? = data else { return nil }
        let text = data["message"]?.string
        return Appearance(
            title: data["title"]?.string, text: text, link: data[ComposedPayload.Name.link]?.string,
            isSilent: text == nil && data["title"] == nil, shownBy: .app)
    }
}

extension LegacyFCM {
    public static func isReserved(dataName: String) -> Bool { FCM.isReserved(dataName: dataName) }

    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var data = FCM.data(of: composed, id: id, on: LegacyFCM.self)
        var payload: [String: JSON] = [:]
        payload["collapse_key"] = composed.collapse.map(JSON.string)
        switch composed.priority {
        case .low?: payload["priority"] = "normal"
        case .high?: payload["priority"] = "high"
        case .normal?, nil: break
        }
        if !composed.isSilent {
            var notification = FCM.notification(of: composed)
            notification["sound"] = FCM.sound(of: composed).map(JSON.string)
            notification["tag"] = composed.collapse.map(JSON.string)
            payload["notification"] = .object(notification)
            data[ComposedPayload.Name.badge] = composed.badge.map(ComposedPayload.text)
        }
        payload["data"] = .object(data.mapValues(JSON.string))
        return Message(body: JSON.object(payload).bytes)
    }

    /// Returns the appearance of a message on an Android device; nil if it is unknown.
    /// - Parameter message: A normalized message, which has the form of the HTTP v1 API.
    public static func appearance(of message: Message) -> Appearance? { FCM.appearance(of: message) }
}
