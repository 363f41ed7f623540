public import MartletModel

/// The facts about a platform that the rest of the system needs, so that no other code names platforms.
public struct PushPlatformDescriptor: Sendable {
    public var platform: PlatformID
    /// The other names of the platform in the API of the app backend.
    public var aliases: [String]
    /// The value of the send header `ServiceBusNotification-Format`, and the platform's name in `TargetPlatforms`.
    public var format: String
    /// The other values of `ServiceBusNotification-Format` with the same meaning.
    public var formatAliases: [String]
    public var registration: RegistrationForm
    public var templateFormat: TemplateFormat
    public var credential: CredentialForm
    /// The platform whose credential is used. It differs from this platform if this platform's push service was
    /// replaced by that of another platform.
    public var credentialPlatform: PlatformID
    public var outcomeCounts: OutcomeCountsForm
    /// The prefixes, in lower case, of the send headers that become fields of a message.
    public var fieldPrefixes: [String]
    /// The maximum payload of any kind of message, in bytes.
    public var payloadLimit: Int
    /// The kind of device, such as `desktop`: the console draws notifications of the platform on such a device.
    public var look: String

    public init(
        platform: PlatformID, aliases: [String] = [], format: String, formatAliases: [String] = [],
        registration: RegistrationForm, templateFormat: TemplateFormat = .json,
        credential: CredentialForm, credentialPlatform: PlatformID? = nil, outcomeCounts: OutcomeCountsForm,
        fieldPrefixes: [String], payloadLimit: Int, look: String = "app"
    ) {
        self.platform = platform
        self.aliases = aliases
        self.format = format
        self.formatAliases = formatAliases
        self.registration = registration
        self.templateFormat = templateFormat
        self.credential = credential
        self.credentialPlatform = credentialPlatform ?? platform
        self.outcomeCounts = outcomeCounts
        self.fieldPrefixes = fieldPrefixes
        self.payloadLimit = payloadLimit
        self.look = look
    }
}
