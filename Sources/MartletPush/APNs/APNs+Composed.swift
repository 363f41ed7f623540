public import MartletCore
import MartletCrypto
public import MartletModel

extension APNs {
    public static func payloadLimit(of message: Message) -> Int {
        (try? APNsHeaders(message))?.pushType.payloadLimit ?? APNsPushType.alert.payloadLimit
    }

    /// Renders a composed message as an alert, or as a background push if the message is silent.
    ///
    /// The system itself presents the texts, the sound and a badge number. The app's notification extension adds
    /// pictures, buttons and an incremented badge. The system runs the extension only for pushes with
    /// `mutable-content`.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var payload = composed.data.mapValues(JSON.string)
        payload[notificationIDName] = .string(id.description)
        var fields: [String: String] = [:]
        fields["apns-collapse-id"] = composed.collapse
        guard !composed.isSilent else {
            payload["aps"] = ["content-available": 1]
            fields["apns-push-type"] = APNsPushType.background.rawValue
            fields["apns-priority"] = String(APNsPriority.powerAware.rawValue)
            return Message(body: JSON.object(payload).bytes, fields: fields)
        }
        payload[ComposedPayload.Name.link] = composed.link.map(JSON.string)
        payload[ComposedPayload.Name.picture] = composed.picture.map(JSON.string)
        if !composed.actions.isEmpty { payload[ComposedPayload.Name.actions] = composed.actionsJSON }
        if composed.badge == .increment { payload[ComposedPayload.Name.badge] = "+1" }
        payload["aps"] = .object(aps(of: composed))
        switch composed.priority {
        case .low?: fields["apns-priority"] = String(APNsPriority.powerAware.rawValue)
        case .normal?, .high?: fields["apns-priority"] = String(APNsPriority.immediate.rawValue)
        case nil: break
        }
        return Message(body: JSON.object(payload).bytes, fields: fields)
    }

    private static func aps(of message: LocalizedMessage) -> [String: JSON] {
        var alert: [String: JSON] = [:]
        alert["title"] = message.title.map(JSON.string)
        alert["subtitle"] = message.subtitle.map(JSON.string)
        alert["body"] = message.text.map(JSON.string)
        var aps: [String: JSON] = ["alert": .object(alert)]
        switch message.sound {
        case .default?: aps["sound"] = "default"
        case .named(let name)?: aps["sound"] = .string(name)
        case ComposedMessage.Sound.none?, nil: break
        }
        if case .number(let number)? = message.badge { aps["badge"] = .integer(Int64(number)) }
        aps["thread-id"] = message.thread.map(JSON.string)
        if !message.actions.isEmpty { aps["category"] = .string(category(of: message.actions)) }
        switch message.priority {
        case .low?: aps["interruption-level"] = "passive"
        case .high?: aps["interruption-level"] = "time-sensitive"
        case .normal?, nil: break
        }
        if message.picture != nil || !message.actions.isEmpty || message.badge == .increment {
            aps["mutable-content"] = 1
        }
        return aps
    }

    /// Returns the notification category that the app's extension registers for the buttons.
    ///
    /// The same buttons always give the same category.
    private static func category(of actions: [LocalizedMessage.Action]) -> String {
        let texts = JSON.array(actions.map { .array([.string($0.id), .string($0.title)]) })
        return "martlet-" + Hex.encode(Array(SHA256.hash(texts.bytes).prefix(4)))
    }

    // MARK: Reading

    public static func appearance(of message: Message) -> Appearance? {
        guard let payload = try? Payload.object(message), case .object(let aps)? = payload["aps"],
            let type = (try? APNsHeaders(message))?.pushType
        else { return nil }
        switch type {
        case .background: return Appearance(isSilent: true, shownBy: .app)
        case .alert: break
        // For calls, Live Activities and pushes of other types, the app decides what is shown, so the appearance is
        // unknown.
        default: return nil
        }
        var appearance = Appearance(shownBy: .system, textLines: 4)
        switch aps["alert"] {
        case .string(let text)?: appearance = Appearance(text: text, shownBy: .system, textLines: 4)
        case .object(let alert)?:
            // Only the app knows the texts for localization keys, so the appearance of such an alert is unknown.
            guard alert["loc-key"] == nil, alert["title-loc-key"] == nil, alert["subtitle-loc-key"] == nil else {
                return nil
            }
            appearance = Appearance(
                title: alert["title"]?.string, subtitle: alert["subtitle"]?.string, text: alert["body"]?.string,
                shownBy: .system, textLines: 4)
        default: break
        }
        appearance.sound = aps["sound"]?.string ?? aps["sound"]?["name"]?.string
        appearance.link = payload[ComposedPayload.Name.link]?.string
        appearance.picture = payload[ComposedPayload.Name.picture]?.string
        appearance.actions = ComposedPayload.actionTitles(payload[ComposedPayload.Name.actions])
        ComposedPayload.setBadge(aps["badge"] ?? payload[ComposedPayload.Name.badge], of: &appearance)
        if !appearance.actions.isEmpty || appearance.picture != nil || appearance.badgeStep != nil {
            appearance.add(.actionsNeedTheSDK)
        }
        return appearance
    }
}
