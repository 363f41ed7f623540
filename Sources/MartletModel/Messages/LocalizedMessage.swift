/// A composed message for one device: in one language, with variables replaced by values. Platforms render it to their
/// payloads.
public struct LocalizedMessage: Hashable, Sendable {
    public var title: String?
    public var subtitle: String?
    public var text: String?
    public var link: String?
    public var picture: String?
    public var sound: ComposedMessage.Sound?
    public var badge: ComposedMessage.Badge?
    public var data: [String: String]
    public var actions: [Action]
    public var priority: ComposedMessage.Priority?
    public var thread: String?
    public var collapse: String?
    public var isSilent: Bool

    public struct Action: Hashable, Sendable {
        public var id: String
        public var title: String
        public var link: String?

        public init(id: String, title: String, link: String? = nil) {
            self.id = id
            self.title = title
            self.link = link
        }
    }

    public init(title: String? = nil, text: String? = nil, data: [String: String] = [:], isSilent: Bool = false) {
        self.title = title
        self.text = text
        self.data = data
        actions = []
        self.isSilent = isSilent
    }

    /// The buttons as JSON, for platforms that pass them to the app: `[{"id", "title", "link"}]`.
    public var actionsJSON: JSON {
        .array(
            actions.map { action in
                var members: [String: JSON] = ["id": .string(action.id), "title": .string(action.title)]
                members["link"] = action.link.map(JSON.string)
                return .object(members)
            })
    }
}

extension ComposedMessage {
    /// Returns the message in one language, with variables replaced.
    /// - Parameters:
    ///   - language: The language of the device; nil for the message's own language.
    ///   - value: Returns the device's value of the variable with the given name, which is in lower case; nil if the
    ///     default is to be used.
    public func localized(in language: LanguageTag?, value: (String) -> String? = { _ in nil }) -> LocalizedMessage {
        let own = self.language.flatMap { LanguageTag($0) }
        let fallbacks = Dictionary(variables.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        func filled(_ text: LocalizedText?) -> String? {
            guard let text = text?.text(in: language, or: own) else { return nil }
            guard !fallbacks.isEmpty else { return text }
            return MessageVariables.pieces(of: text).reduce(into: "") { filled, piece in
                switch piece {
                case .text(let text): filled += text
                case .variable(let name):
                    let folded = name.lowercased()
                    filled += value(folded) ?? fallbacks[folded] ?? "$(\(name))"
                }
            }
        }
        var message = LocalizedMessage(title: filled(title), text: filled(text), data: data, isSilent: isSilent)
        message.subtitle = filled(subtitle)
        (message.link, message.picture, message.sound, message.badge) = (link, picture, sound, badge)
        (message.priority, message.thread, message.collapse) = (priority, thread, collapse)
        message.actions = actions.map { action in
            LocalizedMessage.Action(
                id: action.id, title: action.title.text(in: language, or: own) ?? "", link: action.link)
        }
        return message
    }

    /// The names of the variables that title, subtitle and text contain, in lower case. Empty if the message declares
    /// no variables, because `$(…)` in its texts is then plain text.
    public var usedVariables: Set<String> {
        guard !variables.isEmpty else { return [] }
        return Set(
            [title, subtitle, text].compactMap(\.self).flatMap(\.texts).flatMap(MessageVariables.names).map {
                $0.lowercased()
            })
    }
}
