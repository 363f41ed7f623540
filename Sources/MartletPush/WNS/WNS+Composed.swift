public import MartletCore
import MartletHTTP
public import MartletModel

extension WNS {
    /// Renders a composed message as a toast of up to three lines: title, subtitle and text. A silent message becomes a
    /// raw notification.
    ///
    /// If a line is missing before a line that exists, the toast gets an empty line for it, so that the later line
    /// keeps its position.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        var fields: [String: String] = [:]
        fields["x-wns-tag"] = composed.collapse.map { ComposedPayload.key($0, limit: tagLimit, isValid: isTag) }
        fields["x-wns-group"] = composed.thread.map { ComposedPayload.key($0, limit: tagLimit, isValid: isTag) }
        guard !composed.isSilent else {
            fields[typeField.lowercased()] = rawType
            fields["x-wns-cache-policy"] = "cache"
            return Message(body: ComposedPayload.raw(composed, id: id, on: WNS.self), fields: fields)
        }
        fields[typeField.lowercased()] = "wns/toast"
        return Message(body: Array(toast(of: composed, id: id).utf8), fields: fields)
    }

    private static func toast(of message: LocalizedMessage, id: NotificationID) -> String {
        let launch = XMLText.attribute(ComposedPayload.query(of: message, id: id, on: WNS.self))
        let lines =
            message.subtitle.map { [message.title, $0, message.text] }
            ?? (message.text == nil ? [message.title] : [message.title, message.text])
        var toast = "<toast launch=\"\(launch)\"><visual><binding template=\"ToastGeneric\">"
        for line in lines { toast += "<text>\(XMLText.content(line ?? ""))</text>" }
        if let picture = message.picture {
            toast += "<image placement=\"hero\" src=\"\(XMLText.attribute(picture))\"/>"
        }
        toast += "</binding></visual>"
        if !message.actions.isEmpty { toast += "<actions>\(message.actions.map(action).joined())</actions>" }
        return toast + audio(message.sound) + "</toast>"
    }

    private static func action(_ action: LocalizedMessage.Action) -> String {
        let link = action.link.map { "&\(ComposedPayload.Name.link)=\(PercentEncoding.encode($0))" } ?? ""
        return "<action content=\"\(XMLText.attribute(action.title))\" "
            + "arguments=\"\(XMLText.attribute("action=\(action.id)\(link)"))\"/>"
    }

    private static func audio(_ sound: ComposedMessage.Sound?) -> String {
        switch sound {
        case .default?, nil: ""
        case ComposedMessage.Sound.none?: "<audio silent=\"true\"/>"
        case .named(let name)?: "<audio src=\"\(soundFolder)\(name)\"/>"
        }
    }

    /// The URL prefix of the sounds in an app's package.
    private static let soundFolder = "ms-appx:///"

    // MARK: Reading

    public static func appearance(of message: Message) -> Appearance? {
        switch type(of: message) {
        case rawType: return Appearance(isSilent: true, shownBy: .app)
        case "wns/toast": return XMLElements(message.body).flatMap(appearance(ofToast:))
        case "wns/badge":
            guard let value = XMLElements(message.body)?.elements.first?.attributes["value"], let badge = Int(value)
            else { return nil }
            return Appearance(badge: badge, shownBy: .system)
        // The appearance of a tile is unknown, because it depends on the template and the size of the tile.
        default: return nil
        }
    }

    private static func appearance(ofToast document: XMLElements) -> Appearance? {
        guard let toast = document.elements.first, toast.name == "toast",
            let binding = document.elements.firstIndex(where: { $0.name == "binding" })
        else { return nil }
        let lines = document.elements.filter { $0.name == "text" && $0.parent == binding }.map {
            $0.text.isEmpty ? nil : $0.text
        }
        guard let (title, subtitle, text) = texts(lines, document.elements[binding].attributes["template"]) else {
            return nil
        }
        let items = ComposedPayload.items(of: toast.attributes["launch"] ?? "")
        let audio = document.named("audio").first?.attributes
        var appearance = Appearance(
            title: title, subtitle: subtitle, text: text,
            picture: document.elements.first { $0.name == "image" && $0.parent == binding }?.attributes["src"],
            link: items[ComposedPayload.Name.link],
            actions: document.named("action").compactMap { $0.attributes["content"] },
            sound: audio?["silent"] == "true" ? nil : audio?["src"].map(soundName) ?? "default", shownBy: .system,
            textLines: 4)
        ComposedPayload.setBadge(items[ComposedPayload.Name.badge].map(JSON.string), of: &appearance)
        if appearance.badge != nil || appearance.badgeStep != nil { appearance.add(.badgeNotShown) }
        return appearance
    }

    private static func soundName(_ address: String) -> String {
        address.hasPrefix(soundFolder) ? String(address.dropFirst(soundFolder.count)) : address
    }

    /// Returns the title, the subtitle and the text among the lines of a toast; nil for an unknown template.
    private static func texts(_ lines: [String?], _ template: String?) -> (String?, String?, String?)? {
        func line(_ index: Int) -> String? { lines.indices.contains(index) ? lines[index] : nil }
        switch template {
        case "ToastText01", "ToastImageAndText01": return (nil, nil, line(0))
        case "ToastText04", "ToastImageAndText04": return (line(0), line(1), line(2))
        case "ToastText02", "ToastImageAndText02", "ToastText03", "ToastImageAndText03": return (line(0), nil, line(1))
        case "ToastGeneric":
            return lines.count > 2 ? (line(0), line(1), line(2)) : (line(0), nil, line(1))
        default: return nil
        }
    }
}
