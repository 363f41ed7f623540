public import MartletModel

/// The rules of a push platform for handles and messages: everything that can be checked without a credential, because
/// devices register, and messages are accepted, before there is one. A platform that can be sent to is a `PushService`.
public protocol PushPlatform: Sendable {
    static var descriptor: PushPlatformDescriptor { get }

    /// Checks a handle and returns the key by which the platform compares handles.
    /// - Throws: `PushServiceError` if no device of the platform can have such a handle.
    static func key(of handle: PushHandle) throws(PushServiceError) -> String

    /// The handle that an installation or a sender has written as one text; not checked.
    static func handle(from text: String) -> PushHandle

    /// Returns a sender's message in normal form: adds fields that some clients omit and that follow from the body, and
    /// corrects common mistakes of clients. Idempotent.
    /// - Parameter now: When the message was accepted, for relative times in it.
    static func normalized(_ message: Message, at now: Timestamp) -> Message

    /// The parts of a sender's message that no device will get, by the sender's names: those that the platform no
    /// longer supports or leaves to the hub. Shown in telemetry.
    static func dropped(from message: Message) -> [String]

    /// The collapse key of a message: a later message to the same device replaces this one if it has the same key. nil
    /// if no message replaces it.
    /// - Parameter message: Normalized.
    static func collapseKey(of message: Message) -> String?

    /// Returns a message that tells the push service when to stop trying, unless the sender has stated that, or every
    /// request states it anyway.
    /// - Parameters:
    ///   - message: Normalized.
    ///   - now: The start of durations, for services that are told a duration.
    static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message

    /// The key of the handle that a user names by one text; nil if no handle can have that name.
    static func key(meantBy text: String) -> String?

    /// Checks that the platform will accept a message, as far as that can be known in advance: form, size and fields.
    static func check(_ message: Message) throws(PushServiceError)

    /// Returns a message that shows a text.
    /// - Parameter id: The id that the device uses for the notification in its receipts; nil if no receipts are
    ///   expected.
    /// - Throws: `PushServiceError` if the text exceeds the platform's limit.
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message

    /// Returns a message that passes named texts to the app.
    /// - Throws: `PushServiceError`, of kind `messageTooLarge` if the texts exceed the platform's limit.
    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message

    /// Returns the message that shows a composed message; nil if no push service shows one. Its size is not checked.
    /// - Parameter id: The id that the device uses for the notification in its receipts.
    static func message(composed: LocalizedMessage, id: NotificationID) -> Message?

    /// Whether a name of a composed message's data has another meaning in the platform's payloads, besides those that
    /// have one on every platform (`PayloadName`).
    /// - Parameter dataName: In lower case.
    static func isReserved(dataName: String) -> Bool

    /// Returns what a device shows for a message, read from its bytes; nil if they do not determine it.
    /// - Parameter message: Normalized.
    static func appearance(of message: Message) -> Appearance?

    /// The format of the body of a template: that of the descriptor, unless the template's headers say otherwise.
    static func format(of template: Template) -> TemplateFormat

    /// Generates those properties of a new credential that need not be entered; empty if there are none.
    static func generatedCredential() throws(PushServiceError) -> [String: String]

    /// Checks the headers and options of a template, and returns it with the headers that the platform requires and
    /// that follow from its body.
    static func checked(_ template: Template) throws(PushServiceError) -> Template

    /// The number of bytes of a message that count towards the platform's limit.
    /// - Parameter message: Normalized.
    static func payloadSize(of message: Message) -> Int

    /// The largest payload of a message of the template, in bytes.
    static func payloadLimit(of template: Template) -> Int

    /// The largest payload of a message of this kind, in bytes.
    static func payloadLimit(of message: Message) -> Int
}

extension PushPlatform {
    /// The name of the notification's id in a message that shows a text.
    public static var notificationIDName: String { PayloadName.notificationID.rawValue }

    /// Returns a message that only shows a text.
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

    public static func payloadLimit(of message: Message) -> Int { descriptor.payloadLimit }

    public static func message(composed: LocalizedMessage, id: NotificationID) -> Message? { nil }

    public static func isReserved(dataName: String) -> Bool { false }

    public static func appearance(of message: Message) -> Appearance? { nil }
}

/// Something that a push platform cannot accept; the description says what to do.
public struct PushServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        case badCredential
        case badHandle
        case badMessage
        case badTemplate
        case messageTooLarge
        /// The message is of a kind that does not suit the handle. Both are valid.
        case unsuited
    }

    public let kind: Kind
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
