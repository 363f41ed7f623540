public import MartletCore
public import MartletModel

extension MPNS {
    /// Renders a composed message as a toast with a title and a text, or as a raw notification if the message is
    /// silent.
    ///
    /// A toast cannot have a subtitle, a picture or buttons.
    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? {
        guard !composed.isSilent else {
            return Message(
                body: ComposedPayload.raw(composed, id: id, on: MPNS.self),
                fields: [classField.lowercased(): String(Kind.raw.firstClass)])
        }
        let query = ComposedPayload.query(of: composed, id: id, on: MPNS.self)
        let title = composed.title.map { "<wp:Text1>\(XMLText.content($0))</wp:Text1>" } ?? ""
        let text = composed.text.map { "<wp:Text2>\(XMLText.content($0))</wp:Text2>" } ?? ""
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast>"
            + "\(title)\(text)<wp:Param>/?\(XMLText.content(query))</wp:Param></wp:Toast></wp:Notification>"
        return Message(
            body: Array(body.utf8), fields: [targetField.lowercased(): "toast", classField.lowercased(): "2"])
    }

    // MARK: Reading

    /// Returns the appearance of a message on a phone; nil for a tile and for a body that cannot be read.
    /// - Parameter message: A normalized message.
    public static func appearance(of message: Message) -> Appearance? {
        guard let kind = Kind(target: message.fields[targetField.lowercased()] ?? "") else {
            return message.fields[classField.lowercased()] == nil ? nil : Appearance(isSilent: true, shownBy: .app)
        }
        guard kind == .toast, let document = XMLElements(message.body), document.elements.first?.name == "Notification"
        else { return nil }
        func text(_ name: String) -> String? { document.named(name).first?.text }
        let query = text("Param").flatMap { parameter in parameter.split(separator: "?", maxSplits: 1).last }
        let items = ComposedPayload.items(of: query.map(String.init) ?? "")
        var appearance = Appearance(
            title: text("Text1"), text: text("Text2"), link: items[ComposedPayload.Name.link], shownBy: .system,
            textLines: 1)
        ComposedPayload.setBadge(items[ComposedPayload.Name.badge].map(JSON.string), of: &appearance)
        if appearance.badge != nil || appearance.badgeStep != nil { appearance.add(.badgeNotShown) }
        return appearance
    }
}
