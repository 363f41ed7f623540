/// What a device shows of a push.
public struct NotificationContent: Hashable, Sendable {
    /// The category of notifications with a rich content, whose action leads to it.
    public static let richCategory = "richPush"
    /// The action of `richCategory` that opens the content: "More".
    public static let moreAction = "richPushMore"

    /// nil where there is none.
    public var title: String?
    /// The text.
    public var body: String
    /// The path of a picture, sound or film to show with it; nil where there is none. Its name ends as its type asks.
    public var attachment: String?
    /// `richCategory`, or nil.
    public var category: String?
    /// What the push said by name, for the notification's `userInfo`: `PushContent(userInfo:)` reads it again when the
    /// user opens the notification.
    public var texts: [String: String]

    /// - Parameters: As the properties.
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

/// The sentences of the SDK's own that a user may see, to be replaced by those of the app's languages.
public struct NotificationTexts: Hashable, Sendable {
    /// Where something has to be fetched and nobody is logged in, and the sender gave no words for that.
    public var logInNeeded = "You have a new notification. Open the app and log in to see it."
    /// Where something cannot be fetched or read for another reason, and the sender gave no words.
    public var notAvailable = "You have a new notification. Open the app to see it."

    /// English.
    public init() {}
}

extension NotificationContent {
    /// What to show of a push without asking a server; nil for one that is not Martlet's.
    /// - Parameter words: Where the sender gave none.
    public init?(_ content: PushContent, words: NotificationTexts = NotificationTexts()) {
        self.init(body: words.notAvailable, texts: content.texts)
        switch content {
        case .text(let text):
            title = text.title
            body = text.text
        case .rich(let reference):
            if !reference.message.isEmpty { body = reference.message }
            category = Self.richCategory
        // The words for those who are not logged in are not for those who are.
        case .secure: break
        case .encrypted(let reference): body = reference.message ?? words.notAvailable
        case .other: return nil
        }
    }

    /// The same with what was fetched in its place.
    /// - Parameter fetched: What came, or that somebody has to log in.
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
    /// What the push said by name.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        switch self {
        case .text(let text): texts["notificationId"] = text.id
        case .rich(let reference):
            texts = ["richId": String(reference.id), "richMessage": reference.message, "richType": reference.type]
        case .secure(let reference):
            texts = ["secureId": String(reference.id)]
            texts["secureMessage"] = reference.message
        case .encrypted(let reference):
            texts["notificationId"] = reference.notificationID
            switch reference.push {
            case .content(let text): texts["encrypted"] = text
            case .stored(let id): texts["encryptedId"] = String(id)
            }
        case .other: break
        }
        return texts
    }
}
