import MartletModel

/// A message for the devices of every platform. It describes what devices show, independently of the formats of the
/// platforms.
///
/// ```swift
/// var message = Message(text: ["en": "See you at nine", "de": "Bis um neun"], language: "en")
/// message.data["room"] = "17"
/// try await client.send(message, to: "alice")
/// ```
///
/// The server shows the sender's name as the title. Users who are not admins may set only `text`, `language`, `data`
/// and `thread`.
public struct Message: Hashable, Sendable {
    /// A text of a message: one text for all devices, or one text for each language.
    public enum Text: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
        /// One text for all devices.
        case plain(String)
        /// The texts, keyed by language tag, such as `de` or `pt-BR`.
        case byLanguage([String: String])

        /// Creates one text for all devices.
        public init(stringLiteral text: String) { self = .plain(text) }

        /// Creates a text from the texts of the languages, keyed by language tag.
        public init(dictionaryLiteral texts: (String, String)...) {
            self = .byLanguage(Dictionary(texts) { _, last in last })
        }
    }

    /// The sound that a device plays for the message.
    public enum Sound: Hashable, Sendable {
        /// The device's default sound.
        case `default`
        /// No sound.
        case none
        /// A sound in the app, by its name.
        case named(String)
    }

    /// The change of the number on the app's icon.
    public enum Badge: Hashable, Sendable {
        /// Shows this number; 0 removes the number.
        case number(Int)
        /// Increases the number by one. The app's own code increases it, because the server does not know the number
        /// that the icon shows.
        case increment
    }

    /// The urgency of a message.
    public enum Priority: String, CaseIterable, Sendable {
        /// The message may wait until the device is used.
        case low
        /// The default priority of notifications.
        case normal
        /// The message is shown at once, even if other notifications wait.
        case high
    }

    /// A button of the notification.
    public struct Action: Hashable, Sendable {
        /// The identifier that the app receives when the button is pressed.
        public var id: String
        /// The text on the button.
        public var title: Text
        /// The address that opens when the button is pressed.
        public var link: String?

        /// Creates a button.
        public init(id: String, title: Text, link: String? = nil) {
            self.id = id
            self.title = title
            self.link = link
        }
    }

    /// The first line of the notification; nil shows the sender's name.
    public var title: Text?
    /// The second line of the notification, on platforms that have one.
    public var subtitle: Text?
    /// The main text of the notification.
    public var text: Text?
    /// The language for devices that state no language, or a language that the message lacks. Required if a text has
    /// several languages.
    public var language: String?
    /// The default values of the variables in the texts, keyed by name. A text contains a variable as `$(name)`. The
    /// default is shown on devices that do not have the variable.
    public var variables: [String: String] = [:]
    /// The address that opens when the notification is tapped.
    public var link: String?
    /// The https address of a picture.
    public var picture: String?
    /// The sound; nil leaves the choice to the platform.
    public var sound: Sound?
    /// The change of the number on the app's icon; nil leaves the number unchanged.
    public var badge: Badge?
    /// The texts that are passed to the app, keyed by name.
    public var data: [String: String] = [:]
    /// The buttons, at most three.
    public var actions: [Action] = []
    /// The urgency of the message; nil means `normal`.
    public var priority: Priority?
    /// The name of the message's thread. Notifications of one thread are shown together.
    public var thread: String?
    /// The collapse key. A later message with the same key replaces this message.
    public var collapse: String?
    /// Whether the message only passes `data` to the app.
    public var isSilent = false
    /// Whether a text that is too long for a platform is cut for that platform. Otherwise such a text is an error.
    public var isTruncated = false

    /// Creates a message.
    /// - Parameters:
    ///   - title: The first line of the notification; nil shows the sender's name.
    ///   - text: The text below the title; nil for none.
    ///   - language: The message's own language, if a text has several languages.
    public init(title: Text? = nil, text: Text? = nil, language: String? = nil) {
        self.title = title
        self.text = text
        self.language = language
    }
}

extension Message {
    /// The message in the JSON form that the server accepts.
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
