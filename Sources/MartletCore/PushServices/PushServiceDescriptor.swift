public import MartletModel

/// What the rest of the system needs to know of a platform, so that nobody else names it.
public struct PushServiceDescriptor: Sendable {
    /// A property of the platform's credential.
    public struct CredentialField: Sendable {
        /// As in the hub's XML documents.
        public var name: String
        /// The flag of the command line, such as `key-id`.
        public var flag: String
        public var help: String
        public var isSecret: Bool
        /// Whether the command line's flag names a file whose text is the value.
        public var isFile: Bool

        public init(name: String, flag: String, help: String, isSecret: Bool = false, isFile: Bool = false) {
            self.name = name
            self.flag = flag
            self.help = help
            self.isSecret = isSecret
            self.isFile = isFile
        }
    }

    public var platform: PlatformID
    /// Other names that the app backend's callers use for the platform.
    public var aliases: [String]
    /// The value of the send header `ServiceBusNotification-Format`, and the word in `TargetPlatforms`.
    public var format: String
    /// What stands before `RegistrationDescription`, `Credential` and the like in XML: `Apple`.
    public var registrationElement: String
    /// The elements of the handle in a registration, in order.
    public var handleElements: [String]
    /// The element of the credential in a hub description.
    public var credentialElement: String
    public var credentialFields: [CredentialField]
    /// The element of the outcome counts in telemetry.
    public var outcomeCountsElement: String
    /// Prefixes, in lower case, of the send headers that are passed on to the translator.
    public var fieldPrefixes: [String]
    /// The largest payload, in bytes, of any kind of message.
    public var payloadLimit: Int

    public init(
        platform: PlatformID, aliases: [String] = [], format: String, registrationElement: String,
        handleElements: [String], credentialElement: String, credentialFields: [CredentialField],
        outcomeCountsElement: String, fieldPrefixes: [String], payloadLimit: Int
    ) {
        self.platform = platform
        self.aliases = aliases
        self.format = format
        self.registrationElement = registrationElement
        self.handleElements = handleElements
        self.credentialElement = credentialElement
        self.credentialFields = credentialFields
        self.outcomeCountsElement = outcomeCountsElement
        self.fieldPrefixes = fieldPrefixes
        self.payloadLimit = payloadLimit
    }
}
