public import MartletModel

/// One push platform as its devices and messages show it: everything that can be judged without a credential, because
/// devices register and messages are accepted before one is there. A platform that can be sent to is a `PushService`.
public protocol PushPlatform: Sendable {
    static var descriptor: PushPlatformDescriptor { get }

    /// Checks a handle and gives the key that the platform compares handles by.
    /// - Throws: `PushServiceError` where no device of the platform can have such a handle.
    static func key(of handle: PushHandle) throws(PushServiceError) -> String

    /// The handle that an installation or a sender has written as one text. Not checked.
    static func handle(from text: String) -> PushHandle

    /// A sender's message in the form that everything else here expects: with fields that some clients leave out and the
    /// body tells, and without what some clients get wrong. Twice does as much as once.
    /// - Parameter now: When the message came, for times that cannot be read without it.
    static func normalized(_ message: Message, at now: Timestamp) -> Message

    /// What of a sender's message no device will see, by the names that the sender gave it: what the platform does not
    /// know any more, or leaves to the hub. Telemetry shows it.
    static func dropped(from message: Message) -> [String]

    /// What a later message to the same device has to have in common with this one to take its place; nil where nothing
    /// takes its place.
    /// - Parameter message: Normalized.
    static func collapseKey(of message: Message) -> String?

    /// A message that tells its push service when to stop trying, where the sender has not said that himself and the
    /// service is not told with every request.
    /// - Parameters:
    ///   - message: Normalized.
    ///   - now: From when services count that are told a duration.
    static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message

    /// The key of the handles that somebody means who names a handle in one text; nil where there can be none.
    static func key(meantBy text: String) -> String?

    /// Checks that the platform would take the message, as far as that can be known beforehand: form, size, fields.
    static func check(_ message: Message) throws(PushServiceError)

    /// A message that shows a text.
    /// - Parameter id: What the device is to call the notification in its receipts; nil where nobody waits for any.
    /// - Throws: `PushServiceError` where the text does not fit the platform's limit.
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message

    /// A message that hands the app named texts.
    /// - Throws: `PushServiceError`, of kind `messageTooLarge` where they do not fit the platform's limit.
    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message

    /// What the body of a template is: the descriptor's format, unless the template's headers say otherwise.
    static func format(of template: Template) -> TemplateFormat

    /// Properties of a new credential that can be made up here, for owners who need nobody to give them; empty where there
    /// are none.
    static func generatedCredential() throws(PushServiceError) -> [String: String]

    /// Checks the headers and options of a template, and gives it back with the headers that the platform needs and
    /// that its body tells.
    static func checked(_ template: Template) throws(PushServiceError) -> Template

    /// How many bytes of a message count towards the platform's limit.
    /// - Parameter message: Normalized.
    static func payloadSize(of message: Message) -> Int

    /// The largest payload, in bytes, that a message of a template may have.
    static func payloadLimit(of template: Template) -> Int
}

extension PushPlatform {
    /// The name under which a message that shows a text also carries the notification's id.
    public static var notificationIDName: String { "notificationId" }

    /// A message that shows a text and nothing more.
    public static func message(showing text: String) throws(PushServiceError) -> Message {
        try message(showing: text, id: nil)
    }

    public static func handle(from text: String) -> PushHandle { PushHandle(text: text) }

    public static func normalized(_ message: Message, at now: Timestamp) -> Message { message }

    public static func dropped(from message: Message) -> [String] { [] }

    public static func collapseKey(of message: Message) -> String? { nil }

    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message { message }

    public static func key(meantBy text: String) -> String? { try? key(of: handle(from: text)) }

    public static func generatedCredential() throws(PushServiceError) -> [String: String] { [:] }

    public static func format(of template: Template) -> TemplateFormat { descriptor.templateFormat }

    public static func checked(_ template: Template) throws(PushServiceError) -> Template { template }

    public static func payloadSize(of message: Message) -> Int { message.body.count }

    public static func payloadLimit(of template: Template) -> Int { descriptor.payloadLimit }
}

/// What a push platform cannot accept, in a sentence that says what to do.
public struct PushServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        case badCredential
        case badHandle
        case badMessage
        case badTemplate
        case messageTooLarge
        /// The message is of a kind that the handle is not for. Nothing is wrong with either.
        case unsuited
    }

    public let kind: Kind
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
