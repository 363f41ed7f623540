public import MartletCore
public import MartletModel

extension ADM {
    /// Renders a composed message as an ADM message whose texts are in its member `data`. The app reads the texts there
    /// and shows them, because ADM itself does not show such a message.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var data = ComposedPayload.texts(of: composed, id: id, on: ADM.self)
        data["title"] = composed.title
        data["message"] = composed.text
        data[ComposedPayload.Name.picture] = composed.picture
        data[ComposedPayload.Name.badge] = composed.badge.map(ComposedPayload.text)
        data[sound] = composed.sound?.json.string
        var payload: [String: JSON] = ["data": .object(data.mapValues(JSON.string))]
        payload[collapseMember] = composed.collapse.map(JSON.string)
        switch composed.priority {
        case .low?, .normal?: payload["priority"] = "normal"
        case .high?: payload["priority"] = "high"
        case nil: break
        }
        return Message(body: JSON.object(payload).bytes)
    }

    private static let sound = PayloadName.sound.rawValue

    public static func appearance(of message: Message) -> Appearance? {
        guard let payload = try? Payload.object(message), case .object(let data)? = payload["data"] else { return nil }
        let (title, text) = (data["title"]?.string, data["message"]?.string)
        let sound = data[sound]?.string
        var appearance = Appearance(
            title: title, subtitle: data[ComposedPayload.Name.subtitle]?.string, text: text,
            picture: data[ComposedPayload.Name.picture]?.string, link: data[ComposedPayload.Name.link]?.string,
            actions: ComposedPayload.actionTitles(in: data[ComposedPayload.Name.actions]),
            sound: sound == "none" ? nil : sound, isSilent: title == nil && text == nil, shownBy: .app)
        ComposedPayload.setBadge(data[ComposedPayload.Name.badge], of: &appearance)
        return appearance
    }
}
