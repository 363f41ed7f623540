public import MartletModel

/// The rules of a push platform for handles and messages: everything that can be checked without a credential. Devices
/// register, and messages are accepted, before there is a credential. A platform to which the server can send also
/// conforms to `PushService`.
public protocol PushPlatform: Sendable {
    static var descriptor: PushPlatformDescriptor { get }

    /// Checks a handle and returns the key by which the platform compares handles.
    /// - Throws: `PushServiceError` if no device of the platform can have this handle.
    static func key(of handle: PushHandle) throws(PushServiceError) -> String

    /// Returns the handle for a text in the form in which installations and senders write handles. The text is not
    /// checked.
    static func handle(from text: String) -> PushHandle

    /// Returns a sender's message in normal form: adds fields that some clients omit and that follow from the body, and
    /// corrects common mistakes of clients. Normalizing twice has the same result as once.
    /// - Parameter now: The time when the message was accepted. Relative times in the message count from this time.
    static func normalized(_ message: Message, at now: Timestamp) -> Message

    /// Returns the names of the elements of a sender's message that no device gets, such as members of a JSON payload.
    /// The platform no longer supports these elements, or the hub sets them itself. The names are shown in telemetry.
    static func dropped(from message: Message) -> [String]

    /// Returns the collapse key of a message; nil if the message has none. A later message to the same device replaces
    /// an earlier one with the same key.
    /// - Parameter message: A normalized message.
    static func collapseKey(of message: Message) -> String?

    /// Returns a message that tells the push service when to stop trying. Returns the same message if its own fields
    /// already state an expiry, or if the platform states the expiry in every request.
    /// - Parameters:
    ///   - message: A normalized message.
    ///   - now: The time from which durations are counted, for services that expect a duration.
    static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message

    /// Returns the key of a handle that a person has entered as one text, to search for its registrations; nil if the
    /// text cannot be a handle.
    static func key(meantBy text: String) -> String?

    /// Returns the key with which messages to a handle are encrypted: the public key, followed by the authentication
    /// secret (RFC 8291); nil if the handle has none.
    static func encryptionKey(of handle: PushHandle) -> [UInt8]?

    /// Checks the form, size and fields of a message by those rules of the platform that can be checked before sending.
    static func check(_ message: Message) throws(PushServiceError)

    /// Returns a message that shows a text.
    /// - Parameter id: The id that the device uses for the notification in its receipts; nil if no receipts are
    ///   expected.
    /// - Throws: `PushServiceError` if the text exceeds the platform's limit.
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message

    /// Returns a message that passes the name-value pairs of `data` to the app.
    /// - Throws: `PushServiceError`, of kind `messageTooLarge` if the pairs exceed the platform's limit.
    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message

    /// Returns the message that shows a composed message; nil if the platform cannot show one. The size of the message
    /// is not checked.
    /// - Parameter id: The id that the device uses for the notification in its receipts.
    static func message(composed: LocalizedMessage, id: NotificationID) -> Message?

    /// Returns true if a name in a composed message's data is reserved by the platform, in addition to the names that
    /// are reserved on every platform (`PayloadName`).
    /// - Parameter dataName: The name in lower case.
    static func isReserved(dataName: String) -> Bool

    /// Returns what a device shows for a message, read from the bytes of its payload; nil if these bytes do not
    /// determine the appearance.
    /// - Parameter message: A normalized message.
    static func appearance(of message: Message) -> Appearance?

    /// Returns the format of a template's body: the format in the descriptor, unless the template's headers state
    /// another one.
    static func format(of template: Template) -> TemplateFormat

    /// Generates those properties of a new credential that a person need not enter, such as a key pair; empty if there
    /// are none.
    static func generatedCredential() throws(PushServiceError) -> [String: String]

    /// Checks the headers and options of a template, and adds headers that the platform requires and that follow from
    /// the template's body.
    static func checked(_ template: Template) throws(PushServiceError) -> Template

    /// Returns the number of bytes of a message that count towards the platform's limit.
    /// - Parameter message: A normalized message.
    static func payloadSize(of message: Message) -> Int

    /// Returns the maximum payload of a template's messages, in bytes.
    static func payloadLimit(of template: Template) -> Int

    /// Returns the maximum payload of a message in bytes, which depends on the kind of the message on some platforms.
    static func payloadLimit(of message: Message) -> Int
}

extension PushPlatform {
    /// The name under which a message that shows a text carries the notification's id.
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

    public static func encryptionKey(of handle: PushHandle) -> [UInt8]? { nil }

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

/// The reason why a push platform does not accept a credential, handle, message or template. The description says what
/// to do.
public struct PushServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        case badCredential
        case badHandle
        case badMessage
        case badTemplate
        case messageTooLarge
        /// The message is of a kind that does not suit the handle, although both are valid.
        case unsuited
    }

    public let kind: Kind
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
