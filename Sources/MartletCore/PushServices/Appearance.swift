/// The appearance of a message: what a device shows for it, read back from the bytes of its payload.
public struct Appearance: Hashable, Sendable {
    /// The code that shows the notification on the device.
    public enum Presenter: String, Sendable {
        /// The system shows the notification from the payload alone.
        case system
        /// The app shows the notification, and may show something else.
        case app
    }

    /// A reason why a device may show less than the sender expects.
    public enum Caution: String, CaseIterable, Sendable {
        /// Buttons, a picture or an incremented badge need code in the app, such as the SDK's.
        case actionsNeedTheSDK
        case subtitleNotShown
        case badgeNotShown
        /// The text is probably longer than the lines that are shown before the notification is opened.
        case textIsCutAfterLines
        /// The message only wakes the app.
        case wakesOnly
        /// The sound is that of the app's notification channel on Android, which the user of the device can change.
        case soundIsTheChannels
    }

    /// The kind of device: `PushPlatformDescriptor.look`.
    public var look = ""
    public var title: String?
    public var subtitle: String?
    public var text: String?
    public var picture: String?
    public var link: String?
    /// The titles of the buttons.
    public var actions: [String]
    public var badge: Int?
    /// The number that is added to the badge of the app.
    public var badgeStep: Int?
    /// The name of the sound, or `default`; nil for no sound.
    public var sound: String?
    public var isSilent: Bool
    public var shownBy: Presenter
    /// The number of lines of the text that are shown before the notification is opened; nil if the number is not
    /// known.
    public var textLines: Int?
    public var cautions: [Caution]

    public init(
        title: String? = nil, subtitle: String? = nil, text: String? = nil, picture: String? = nil,
        link: String? = nil, actions: [String] = [], badge: Int? = nil, badgeStep: Int? = nil, sound: String? = nil,
        isSilent: Bool = false, shownBy: Presenter, textLines: Int? = nil, cautions: [Caution] = []
    ) {
        self.title = title
        self.subtitle = subtitle
        self.text = text
        self.picture = picture
        self.link = link
        self.actions = actions
        self.badge = badge
        self.badgeStep = badgeStep
        self.sound = sound
        self.isSilent = isSilent
        self.shownBy = shownBy
        self.textLines = textLines
        self.cautions = cautions
        if let textLines, let text, text.count > textLines * Self.charactersOfLine { add(.textIsCutAfterLines) }
        if isSilent { add(.wakesOnly) }
    }

    /// The approximate number of characters in a line of a shown text.
    private static let charactersOfLine = 40

    public mutating func add(_ caution: Caution) {
        if !cautions.contains(caution) { cautions.append(caution) }
    }
}

extension PushPlatform {
    /// Returns what a device shows for a message, including the platform's kind of device; nil if the message does not
    /// determine the appearance.
    /// - Parameter message: A normalized message.
    static func shown(_ message: Message) -> Appearance? {
        var appearance = appearance(of: message)
        appearance?.look = descriptor.look
        return appearance
    }
}
