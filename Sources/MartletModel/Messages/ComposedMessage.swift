/// One message for every platform: what is to be shown, and not how a platform writes it.
///
/// The server makes the payload of each platform from it. Its JSON form is the body of a send with
/// `ServiceBusNotification-Format: message`, and of `POST /api/notifications/message`.
public struct ComposedMessage: Hashable, Sendable {
    public var title: LocalizedText?
    public var subtitle: LocalizedText?
    public var text: LocalizedText?
    /// The language of devices that say none, or one that the message does not have. Needed if any text has languages.
    public var language: String?
    /// The variables of the texts, written `$(name)`, with what is shown where a device has none. Names are compared
    /// without case.
    public var variables: [String: String] = [:]
    /// What opens when the notification is tapped.
    public var link: String?
    /// The https address of a picture.
    public var picture: String?
    public var sound: Sound?
    public var badge: Badge?
    /// Texts for the app, by name.
    public var data: [String: String] = [:]
    /// Buttons, in order.
    public var actions: [Action] = []
    public var priority: Priority?
    /// Notifications of one thread are shown together.
    public var thread: String?
    /// A later message with the same key replaces this one.
    public var collapse: String?
    /// Whether the message only passes `data` to the app.
    public var isSilent = false
    /// Whether texts that are too long for a platform are cut there.
    public var isTruncated = false
    /// What is different on a platform, by the platform's name.
    public var platforms: [String: PlatformPart] = [:]

    public init(title: LocalizedText? = nil, text: LocalizedText? = nil, language: String? = nil) {
        self.title = title
        self.text = text
        self.language = language
    }

    public enum Sound: Hashable, Sendable {
        /// The device's usual sound.
        case usual
        case none
        /// A sound of the app, by its name.
        case named(String)
    }

    public enum Badge: Hashable, Sendable {
        case number(Int)
        /// One more than the app has. The device counts, because no server knows when the app was opened.
        case oneMore
    }

    public enum Priority: String, CaseIterable, Sendable {
        case low
        case normal
        case high
    }

    /// A button.
    public struct Action: Hashable, Sendable {
        /// What the app is told.
        public var id: String
        public var title: LocalizedText
        /// What opens when it is pressed.
        public var link: String?

        public init(id: String, title: LocalizedText, link: String? = nil) {
            self.id = id
            self.title = title
            self.link = link
        }
    }

    /// What is different on one platform.
    public enum PlatformPart: Hashable, Sendable {
        /// The message does not go there.
        case omitted
        /// The rendered payload is changed by a JSON Merge Patch (RFC 7396).
        case merged([String: JSON])
        /// The platform's own payload, as a native send would have it, with its header fields.
        case payload([UInt8], headers: [String: String])
    }
}

extension ComposedMessage {
    /// The languages that a device can get the message in.
    public var languages: MessageLanguages {
        var tags: Set<LanguageTag> = []
        for case .byLanguage(let texts) in localizedTexts { tags.formUnion(texts.keys.compactMap { LanguageTag($0) }) }
        return MessageLanguages(own: language.flatMap { LanguageTag($0) }, others: tags)
    }

    private var localizedTexts: [LocalizedText] {
        [title, subtitle, text].compactMap(\.self) + actions.map(\.title)
    }
}
