/// The content of a push: the text itself, or a reference to content that is stored at the server.
///
/// ```swift
/// func application(
///     _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
/// ) async -> UIBackgroundFetchResult {
///     switch PushContent(userInfo: userInfo) {
///     case .rich(let reference): …  // client.fetch(reference)
///     case .secure(let reference): …
///     case .text, .encrypted, .other: …
///     }
/// }
/// ```
public enum PushContent: Hashable, Sendable {
    /// A text that the push itself carries.
    case text(TextNotification)
    /// A reference to a picture, a sound or similar content that is stored at the server.
    case rich(RichReference)
    /// A reference to a text that must not travel through push services and is stored at the server.
    case secure(SecureReference)
    /// A text that only this device can read, either in the push itself or stored at the server.
    case encrypted(EncryptedReference)
    /// A push that is not Martlet's.
    case other

    /// The id under which a receipt names this notification; nil if the push has none.
    public var receiptID: String? {
        switch self {
        case .text(let text): text.id
        case .rich(let reference): String(reference.id)
        case .secure(let reference): String(reference.id)
        case .encrypted(let reference): reference.receiptID
        case .other: nil
        }
    }
}

/// A text that a push carried.
public struct TextNotification: Hashable, Sendable {
    /// The title, if there is one.
    public let title: String?
    /// The text that is shown.
    public let text: String
    /// The server's id of the notification, for receipts; nil if the push does not contain it.
    public let id: String?
}

/// A reference to content at the server, which is fetched by its id.
public struct RichReference: Hashable, Sendable {
    /// The id of the content at the server, greater than 0.
    public let id: Int32
    /// The text to show before the content is fetched.
    public let message: String
    /// A short word for the kind of content: `img`, `sound`, `url`, `text`, `file` or a word that sender and app have
    /// agreed on.
    public let type: String

    /// Creates a reference from the values of its properties.
    public init(id: Int32, message: String = "", type: String = "file") {
        self.id = id
        self.message = message
        self.type = type
    }
}

/// A reference to a secret text at the server, which is fetched by its id.
public struct SecureReference: Hashable, Sendable {
    /// The id of the text at the server, greater than 0.
    public let id: Int32
    /// The sender's text to show if no user is logged in; nil if the app should use its own.
    public let message: String?

    /// Creates a reference from the values of its properties.
    public init(id: Int32, message: String? = nil) {
        self.id = id
        self.message = message
    }
}

/// A text that was encrypted for this device alone.
public struct EncryptedReference: Hashable, Sendable {
    /// The ciphertext, or the id under which it is stored.
    public let push: EncryptedPush
    /// The text that is shown if the message cannot be decrypted: the visible text of the push.
    public let message: String?
    /// The server's id of the notification, for receipts; nil if the push does not contain it.
    public let notificationID: String?

    var receiptID: String? {
        if case .stored(let id) = push { String(id) } else { notificationID }
    }
}
