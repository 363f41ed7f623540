public import MartletCore
public import MartletModel

extension WebPush {
    private static let links = PayloadName.links.rawValue

    /// Renders a composed message.
    ///
    /// The members of the payload are the options of `showNotification`, so that a page's service worker can pass them
    /// on unchanged.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var data = composed.data.mapValues(JSON.string)
        var payload: [String: JSON] = [notificationIDName: .string(id.description)]
        if !composed.isSilent {
            data[ComposedPayload.Name.link] = composed.link.map(JSON.string)
            data[ComposedPayload.Name.subtitle] = composed.subtitle.map(JSON.string)
            data[ComposedPayload.Name.badge] = composed.badge?.json
            payload["title"] = composed.title.map(JSON.string)
            payload["body"] = composed.text.map(JSON.string)
            payload["image"] = composed.picture.map(JSON.string)
            payload["tag"] = composed.collapse.map(JSON.string)
            if composed.sound == ComposedMessage.Sound.none { payload["silent"] = true }
            if !composed.actions.isEmpty {
                payload["actions"] = .array(
                    composed.actions.map { ["action": .string($0.id), "title": .string($0.title)] })
                let links = composed.actions.compactMap { action in action.link.map { (action.id, JSON.string($0)) } }
                if !links.isEmpty { data[Self.links] = .object(Dictionary(links) { first, _ in first }) }
            }
        }
        if !data.isEmpty { payload["data"] = .object(data) }
        var fields: [String: String] = [:]
        fields["urgency"] = composed.priority.map(urgency).map(\.rawValue)
        fields["topic"] = composed.collapse.map { key in
            ComposedPayload.key(key, limit: WebPushHeaders.topicLimit, isValid: WebPushHeaders.isTopic)
        }
        return Message(body: JSON.object(payload).bytes, fields: fields)
    }

    private static func urgency(_ priority: ComposedMessage.Priority) -> WebPushUrgency {
        switch priority {
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }

    // MARK: Reading

    public static func appearance(of message: Message) -> Appearance? {
        guard let payload = try? Payload.object(message) else { return nil }
        let (title, text) = (payload["title"]?.string, payload["body"]?.string)
        guard title != nil || text != nil || payload["data"] != nil else { return nil }
        let data = payload["data"]
        var appearance = Appearance(
            title: title, subtitle: data?[ComposedPayload.Name.subtitle]?.string, text: text,
            picture: payload["image"]?.string, link: data?[ComposedPayload.Name.link]?.string,
            actions: ComposedPayload.actionTitles(payload["actions"]),
            sound: payload["silent"] == true || title == nil && text == nil ? nil : "default",
            isSilent: title == nil && text == nil, shownBy: .app, textLines: 4)
        ComposedPayload.setBadge(data?[ComposedPayload.Name.badge], of: &appearance)
        if appearance.subtitle != nil { appearance.add(.subtitleNotShown) }
        if appearance.badge != nil || appearance.badgeStep != nil { appearance.add(.badgeNotShown) }
        return appearance
    }
}
