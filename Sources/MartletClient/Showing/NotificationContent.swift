import MartletModel

/// The notification that a device shows for a push.
public struct NotificationContent: Hashable, Sendable {
    /// The identifier of the category of notifications with rich content. The category has an action that opens the
    /// content.
    public static let richCategory = "richPush"
    /// The identifier of the action of `richCategory` that opens the content: "More".
    public static let moreAction = "richPushMore"

    /// The title of the notification; nil if it has none.
    public var title: String?
    /// The text of the notification.
    public var body: String
    /// The path of the file of a picture, sound or video to show; nil if there is none. The file name extension matches
    /// the type of the content.
    public var attachment: String?
    /// The category: `richCategory`, or nil.
    public var category: String?
    /// Members of the push's payload, keyed by name. They belong in the notification's `userInfo`: when the user opens
    /// the notification, `PushContent(userInfo:)` recreates the content of the push from them.
    public var texts: [String: String]

    /// Creates the content of a notification.
    public init(
        title: String? = nil, body: String, attachment: String? = nil, category: String? = nil,
        texts: [String: String] = [:]
    ) {
        self.title = title
        self.body = body
        self.attachment = attachment
        self.category = category
        self.texts = texts
    }
}

/// The SDK's own texts that a user may see. An app can replace them with texts in its languages.
public struct NotificationTexts: Hashable, Sendable {
    /// Shown if content has to be fetched, no user is logged in, and the sender gave no text for that case.
    public var logInNeeded = "You have a new notification. Open the app and log in to see it."
    /// Shown if content cannot be fetched or read for another reason, and the sender gave no text.
    public var notAvailable = "You have a new notification. Open the app to see it."

    /// Creates texts in English.
    public init() {}
}

extension NotificationContent {
    /// Creates the notification to show for a push without contacting a server; nil if the push is not Martlet's.
    /// - Parameter words: The texts that are used if the sender gave none.
    public init?(_ content: PushContent, words: NotificationTexts = NotificationTexts()) {
        self.init(body: words.notAvailable, texts: content.texts)
        switch content {
        case .text(let text):
            title = text.title
            body = text.text
        case .rich(let reference):
            if !reference.message.isEmpty { body = reference.message }
            category = Self.richCategory
        // The message of a `SecureReference` is only for devices on which no user is logged in, so it is not used here.
        case .secure: break
        case .encrypted(let reference): body = reference.message ?? words.notAvailable
        case .other: return nil
        }
    }

    /// Completes the notification with the result of fetching its content. Calls `show` with the fetched content. If
    /// the user must log in first, replaces the text with the prompt and removes the category, because there is no
    /// content to open.
    mutating func show<Value>(
        _ fetched: Fetched<Value>, words: NotificationTexts, _ show: (inout NotificationContent, Value) -> Void
    ) {
        switch fetched {
        case .content(let value): show(&self, value)
        case .logInNeeded(let prompt):
            body = prompt.message ?? words.logInNeeded
            category = nil
        }
    }
}

extension PushContent {
    /// The members of the push's payload from which `PushContent(userInfo:)` recreates this content, keyed by
    /// `PayloadName`. The visible text is not among them, because a payload has it in `aps`.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        switch self {
        case .text(let text): texts[PayloadName.notificationID.rawValue] = text.id
        case .rich(let reference):
            texts = [
                PayloadName.richID.rawValue: String(reference.id),
                PayloadName.richMessage.rawValue: reference.message, PayloadName.richType.rawValue: reference.type,
            ]
        case .secure(let reference):
            texts = [PayloadName.secureID.rawValue: String(reference.id)]
            texts[PayloadName.secureMessage.rawValue] = reference.message
        case .encrypted(let reference):
            texts[PayloadName.notificationID.rawValue] = reference.notificationID
            switch reference.push {
            case .content(let text): texts[PayloadName.encrypted.rawValue] = text
            case .stored(let id): texts[PayloadName.encryptedID.rawValue] = String(id)
            }
        case .other: break
        }
        return texts
    }
}
