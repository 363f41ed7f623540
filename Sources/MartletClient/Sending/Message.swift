import MartletModel

/// One message for the devices of every platform: what they show, and not how a platform writes it.
///
/// ```swift
/// var message = Message(text: ["en": "See you at nine", "de": "Bis um neun"], language: "en")
/// message.data["room"] = "17"
/// try await client.send(message, to: "alice")
/// ```
///
/// The server shows the sender's name as the title. Only admins may set another title, and everything but `text`,
/// `language`, `data` and `thread`.
public struct Message: Hashable, Sendable {
    /// A text for all devices, or one for each language.
    public enum Text: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
        /// One text for all devices.
        case plain(String)
        /// Texts by language tag, such as `de` or `pt-BR`.
        case byLanguage([String: String])

        /// A text for all devices.
        public init(stringLiteral text: String) { self = .plain(text) }

        /// Texts by language tag.
        public init(dictionaryLiteral texts: (String, String)...) {
            self = .byLanguage(Dictionary(texts) { _, last in last })
        }
    }

    /// A sound.
    public enum Sound: Hashable, Sendable {
        /// The device's default sound.
        case `default`
        /// No sound.
        case none
        /// A sound of the app, by its name.
        case named(String)
    }

    /// The number on the app's icon.
    public enum Badge: Hashable, Sendable {
        /// This number; 0 removes it.
        case number(Int)
        /// Increases the number by one. The app's own code adds it, because the server does not know when the app was
        /// opened.
        case increment
    }

    /// How urgent the message is.
    public enum Priority: String, CaseIterable, Sendable {
        /// It may wait until the device is used.
        case low
        /// The default priority of notifications.
        case normal
        /// It is shown at once, even if other notifications wait.
        case high
    }

    /// A button.
    public struct Action: Hashable, Sendable {
        /// The identifier that the app receives when the button is pressed.
        public var id: String
        /// What the button says.
        public var title: Text
        /// What opens when the button is pressed.
        public var link: String?

        /// Creates a button.
        public init(id: String, title: Text, link: String? = nil) {
            self.id = id
            self.title = title
            self.link = link
        }
    }

    /// The first line; nil for the sender's name.
    public var title: Text?
    /// A second line, on platforms that have one.
    public var subtitle: Text?
    /// What is to be read.
    public var text: Text?
    /// The language of devices that say none, or one that the message lacks. Needed if any text has languages.
    public var language: String?
    /// The variables of the texts, written `$(name)`, with what is shown where a device has none.
    public var variables: [String: String] = [:]
    /// What opens when the notification is tapped.
    public var link: String?
    /// The https address of a picture.
    public var picture: String?
    /// The sound; nil leaves it to the platform.
    public var sound: Sound?
    /// The number on the app's icon; nil leaves it as it is.
    public var badge: Badge?
    /// Texts for the app, by name.
    public var data: [String: String] = [:]
    /// Buttons, at most three.
    public var actions: [Action] = []
    /// How urgent the message is; nil for normal.
    public var priority: Priority?
    /// Notifications of one thread are shown together.
    public var thread: String?
    /// A later message with the same key replaces this one.
    public var collapse: String?
    /// Whether the message only passes `data` to the app.
    public var isSilent = false
    /// Whether a text that is too long for a platform is cut there, instead of an error.
    public var isTruncated = false

    /// Creates a message.
    /// - Parameters:
    ///   - title: The first line; nil for the sender's name.
    ///   - text: What is to be read.
    ///   - language: The message's own language, if a text has languages.
    public init(title: Text? = nil, text: Text? = nil, language: String? = nil) {
        self.title = title
        self.text = text
        self.language = language
    }
}

extension Message {
    /// What the server takes.
    var json: JSON { composed.json }

    private var composed: ComposedMessage {
        var message = ComposedMessage(title: title?.localized, text: text?.localized, language: language)
        message.subtitle = subtitle?.localized
        message.variables = variables
        (message.link, message.picture) = (link, picture)
        message.sound = sound?.composed
        message.badge = badge?.composed
        message.data = data
        message.actions = actions.map { .init(id: $0.id, title: $0.title.localized, link: $0.link) }
        message.priority = priority.flatMap { .init(rawValue: $0.rawValue) }
        (message.thread, message.collapse) = (thread, collapse)
        (message.isSilent, message.isTruncated) = (isSilent, isTruncated)
        return message
    }
}

extension Message.Text {
    fileprivate var localized: LocalizedText {
        switch self {
        case .plain(let text): .plain(text)
        case .byLanguage(let texts): .byLanguage(texts)
        }
    }
}

extension Message.Sound {
    fileprivate var composed: ComposedMessage.Sound {
        switch self {
        case .default: .default
        case .none: .none
        case .named(let name): .named(name)
        }
    }
}

extension Message.Badge {
    fileprivate var composed: ComposedMessage.Badge {
        switch self {
        case .number(let number): .number(number)
        case .increment: .increment
        }
    }
}
