public import MartletModel

/// What the rest of the system needs to know of a platform, so that nobody else names it.
public struct PushPlatformDescriptor: Sendable {
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
        /// Where else the command line finds the value: in a file that holds the whole credential.
        public var fileMember: FileMember?
        /// Whether the original hub has no such property. It then is never in a document, because a known client
        /// fails on a name that it does not know.
        public var isExtension: Bool
        /// Whether the hub connects to the value. Nobody can change it without giving the credential's secrets again,
        /// because they are sent there.
        public var isAddress: Bool
        /// What it is where it is not given. Documents show it, because a known client puts a value of its own in the
        /// place of one that it does not find.
        public var impliedValue: String?

        /// A member of a JSON file as the platform's owner hands it out.
        public struct FileMember: Sendable {
            /// The flag that names the file; one file has members for several fields.
            public var flag: String
            public var help: String
            public var member: String

            public init(flag: String, help: String, member: String) {
                self.flag = flag
                self.help = help
                self.member = member
            }
        }

        public init(
            name: String, flag: String, help: String, isSecret: Bool = false, isFile: Bool = false,
            isExtension: Bool = false, isAddress: Bool = false, impliedValue: String? = nil,
            fileMember: FileMember? = nil
        ) {
            self.name = name
            self.flag = flag
            self.help = help
            self.isSecret = isSecret
            self.isFile = isFile
            self.isExtension = isExtension
            self.isAddress = isAddress
            self.impliedValue = impliedValue
            self.fileMember = fileMember
        }
    }

    /// What a template of the platform has besides its body, as elements of its XML, in their order there.
    public enum TemplateElement: Hashable, Sendable {
        /// `TemplateName`.
        case name
        /// A collection of headers: `ApnsHeaders` of `ApnsHeader`. The prefix is that of the headers in it: a template
        /// with others is refused. It may be written even where it is empty.
        case headers(collection: String, item: String, prefix: String?, isAlwaysWritten: Bool)
        /// A text of `Template.options`, which becomes a field of the message. It may be written as `i:nil` where it is
        /// missing.
        case option(String, field: String, isAlwaysWritten: Bool)
    }

    public var platform: PlatformID
    /// Other names that the app backend's callers use for the platform.
    public var aliases: [String]
    /// The value of the send header `ServiceBusNotification-Format`, and the word in `TargetPlatforms`.
    public var format: String
    /// Other values of that header that mean the same.
    public var formatAliases: [String]
    /// What comes before `RegistrationDescription`, `Credential` and the like in XML: `Apple`.
    public var registrationElement: String
    /// The elements of the handle in a registration, in order.
    public var handleElements: [String]
    /// Whether a registration may name a secondary tile, with the element `SecondaryTileName` after the handle's.
    public var hasSecondaryTiles: Bool
    public var templateFormat: TemplateFormat
    public var templateElements: [TemplateElement]
    /// The element of the credential in a hub description.
    public var credentialElement: String
    /// The index of that element in the description, from 0 (NotificationHubs.md, section 13.2): a known
    /// client drops what is out of order. nil where the original hub has no such element; it then is never in a
    /// document.
    public var credentialOrder: Int?
    public var credentialFields: [CredentialField]
    /// Whose credential messages are sent with: the platform's own but where its service has been replaced by another's.
    public var credentialPlatform: PlatformID
    /// The element of the outcome counts in telemetry.
    public var outcomeCountsElement: String
    /// The index of that element among those of all platforms, from 0 (NotificationHubs.md, section 8.1): a known
    /// client drops what is out of order. 5 is the address of the error details. Elements without an index of their own
    /// come last.
    public var outcomeCountsIndex: Int
    /// Prefixes, in lower case, of the send headers that are passed on to the translator.
    public var fieldPrefixes: [String]
    /// The largest payload, in bytes, of any kind of message.
    public var payloadLimit: Int
    /// Words, in lower case, by which the `User-Agent` tells clients that cannot read the platform's registrations and
    /// would fail on a whole feed for the sake of one: feeds for them go without (NotificationHubs.md,
    /// section 16, trap 24).
    public var hiddenFrom: [String]

    public init(
        platform: PlatformID, aliases: [String] = [], format: String, formatAliases: [String] = [],
        registrationElement: String, handleElements: [String], hasSecondaryTiles: Bool = false,
        templateFormat: TemplateFormat = .json, templateElements: [TemplateElement] = [.name],
        credentialElement: String, credentialOrder: Int? = nil, credentialFields: [CredentialField],
        credentialPlatform: PlatformID? = nil, outcomeCountsElement: String, outcomeCountsIndex: Int = .max,
        fieldPrefixes: [String], payloadLimit: Int,
        hiddenFrom: [String] = []
    ) {
        self.platform = platform
        self.aliases = aliases
        self.format = format
        self.formatAliases = formatAliases
        self.registrationElement = registrationElement
        self.handleElements = handleElements
        self.hasSecondaryTiles = hasSecondaryTiles
        self.templateFormat = templateFormat
        self.templateElements = templateElements
        self.credentialElement = credentialElement
        self.credentialOrder = credentialOrder
        self.credentialFields = credentialFields
        self.credentialPlatform = credentialPlatform ?? platform
        self.outcomeCountsElement = outcomeCountsElement
        self.outcomeCountsIndex = outcomeCountsIndex
        self.fieldPrefixes = fieldPrefixes
        self.payloadLimit = payloadLimit
        self.hiddenFrom = hiddenFrom
    }
}
