/// A message for every platform, in the languages of its devices. The server renders it to the payload of each
/// platform.
///
/// The JSON form of a message is the body of `POST /api/notifications/message`, and of a send with
/// `ServiceBusNotification-Format: message`. Docs/Delivery.md, section "One message", describes the members.
public struct ComposedMessage: Hashable, Sendable {
    public var title: LocalizedText?
    public var subtitle: LocalizedText?
    public var text: LocalizedText?
    /// The language for devices without a language tag, and for devices with a language that the message does not have.
    /// It is required if any text is given by language.
    public var language: String?
    /// The variables that texts contain as `$(name)`, with the default for devices that do not have the variable. Names
    /// are case-insensitive.
    public var variables: [String: String] = [:]
    /// The URL that opens when the notification is tapped.
    public var link: String?
    /// The https URL of a picture.
    public var picture: String?
    public var sound: Sound?
    public var badge: Badge?
    /// Values for the app, by name.
    public var data: [String: String] = [:]
    /// The buttons, in the order in which they are shown.
    public var actions: [Action] = []
    public var priority: Priority?
    /// The thread identifier. Devices group notifications with the same identifier.
    public var thread: String?
    /// The collapse key. A later message with the same key replaces this one.
    public var collapse: String?
    /// True if the device shows nothing and only passes `data` to the app.
    public var isSilent = false
    /// True if the server shortens the text, and then the title, when a payload would exceed its platform's limit;
    /// false if the server refuses such a message.
    public var isTruncated = false
    /// The overrides for single platforms, keyed by the platform's name.
    public var platforms: [String: PlatformPart] = [:]

    public init(title: LocalizedText? = nil, text: LocalizedText? = nil, language: String? = nil) {
        self.title = title
        self.text = text
        self.language = language
    }

    public enum Sound: Hashable, Sendable {
        /// The default sound of the device.
        case `default`
        case none
        /// A sound that the app contains, by its name.
        case named(String)
    }

    public enum Badge: Hashable, Sendable {
        case number(Int)
        /// Increases the number by one. The app computes the new number on the device, because the server does not know
        /// when the app resets the number.
        case increment
    }

    public enum Priority: String, CaseIterable, Sendable {
        case low
        case normal
        case high
    }

    /// A button of the notification.
    public struct Action: Hashable, Sendable {
        /// The identifier that the app receives when the button is pressed.
        public var id: String
        public var title: LocalizedText
        /// The URL that opens when the button is pressed.
        public var link: String?

        public init(id: String, title: LocalizedText, link: String? = nil) {
            self.id = id
            self.title = title
            self.link = link
        }
    }

    /// The sender's exception for one platform: no message, changes to the rendered payload, or a different payload.
    public enum PlatformPart: Hashable, Sendable {
        /// The message is not sent to the platform.
        case omitted
        /// A JSON Merge Patch (RFC 7396) is applied to the rendered payload.
        case merged([String: JSON])
        /// A payload in the platform's own format replaces the rendered payload. It has header fields, as in a native
        /// send.
        case payload([UInt8], headers: [String: String])
    }
}

extension ComposedMessage {
    /// The languages in which the message can be sent.
    public var languages: MessageLanguages {
        var tags: Set<LanguageTag> = []
        for case .byLanguage(let texts) in localizedTexts { tags.formUnion(texts.keys.compactMap { LanguageTag($0) }) }
        return MessageLanguages(own: language.flatMap { LanguageTag($0) }, others: tags)
    }

    private var localizedTexts: [LocalizedText] {
        [title, subtitle, text].compactMap(\.self) + actions.map(\.title)
    }
}
