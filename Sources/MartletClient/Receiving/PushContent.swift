/// What a push brought: the notification itself, or word of one that waits at the server.
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
    /// A picture, a sound or the like waits at the server.
    case rich(RichReference)
    /// A text that must not travel through push services waits at the server.
    case secure(SecureReference)
    /// A text that only this device can read came along, or waits at the server.
    case encrypted(EncryptedReference)
    /// Nothing of Martlet's.
    case other

    /// What to name in a receipt; nil where the push names nothing.
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
    /// Its title, where it has one.
    public let title: String?
    /// What is shown.
    public let text: String
    /// The id under which the server delivers it, for receipts; nil where the push does not tell.
    public let id: String?
}

/// Word of content at the server that is fetched by its id.
public struct RichReference: Hashable, Sendable {
    /// Above 0.
    public let id: Int32
    /// What to show before it was fetched.
    public let message: String
    /// A short word for what it is: `img`, `sound`, `url`, `text`, `file` or one that sender and app have agreed on.
    public let type: String

    /// - Parameters: As the properties.
    public init(id: Int32, message: String = "", type: String = "file") {
        self.id = id
        self.message = message
        self.type = type
    }
}

/// Word of a secret text at the server that is fetched by its id.
public struct SecureReference: Hashable, Sendable {
    /// Above 0.
    public let id: Int32
    /// What to show where nobody is logged in, in the sender's words; nil leaves it to the app.
    public let message: String?

    /// - Parameters: As the properties.
    public init(id: Int32, message: String? = nil) {
        self.id = id
        self.message = message
    }
}

/// A text that was encrypted for this device alone.
public struct EncryptedReference: Hashable, Sendable {
    /// The ciphertext, or where it is.
    public let push: EncryptedPush
    /// What is shown where it cannot be decrypted: the visible text of the push.
    public let message: String?
    /// The id under which the server delivers it, for receipts; nil where the push does not tell.
    public let notificationID: String?

    var receiptID: String? {
        if case .stored(let id) = push { String(id) } else { notificationID }
    }
}
