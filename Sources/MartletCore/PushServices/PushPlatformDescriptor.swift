public import MartletModel

/// What the rest of the system needs to know about a platform, so that no other code names platforms.
public struct PushPlatformDescriptor: Sendable {
    /// A property of the platform's credential.
    public struct CredentialField: Sendable {
        /// As in the XML documents of the hub.
        public var name: String
        /// The command line flag, such as `key-id`.
        public var flag: String
        public var help: String
        public var isSecret: Bool
        /// Whether the value of the command line flag is a path to a file that contains the property.
        public var isFile: Bool
        /// An alternative source for the command line: a file with the whole credential.
        public var fileMember: FileMember?
        /// Whether Azure Notification Hubs has no such property. Then the property is in no XML document, because a
        /// known client fails on unknown names.
        public var isExtension: Bool
        /// Whether the hub connects to this value. A change requires the secrets of the credential again, because they
        /// are sent there.
        public var isAddress: Bool
        /// The value if none is given. Documents contain it, because a known client inserts a value of its own if there
        /// is none.
        public var impliedValue: String?

        /// A member of a JSON file as issued by the owner of the platform.
        public struct FileMember: Sendable {
            /// The flag with the path of the file; several fields can come from one file.
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

    /// The parts of a template in addition to its body, in the order of the XML elements.
    public enum TemplateElement: Hashable, Sendable {
        /// `TemplateName`.
        case name
        /// A collection of headers: `ApnsHeaders` of `ApnsHeader`. All names of headers in it must begin with the
        /// prefix, otherwise the template is refused. It may be written even if it is empty.
        case headers(collection: String, item: String, prefix: String?, isAlwaysWritten: Bool)
        /// A text of `Template.options`, which becomes a field of the message. It may be written as `i:nil` if it is
        /// missing.
        case option(String, field: String, isAlwaysWritten: Bool)
    }

    public var platform: PlatformID
    /// Other names of the platform in the API of the app backend.
    public var aliases: [String]
    /// The value of the send header `ServiceBusNotification-Format`, and the platform's name in `TargetPlatforms`.
    public var format: String
    /// Other values of that header with the same meaning.
    public var formatAliases: [String]
    /// The beginning of XML element names, before `RegistrationDescription`, `Credential` and the like: `Apple`.
    public var registrationElement: String
    /// The elements of the handle in a registration, in order.
    public var handleElements: [String]
    /// Whether a registration may name a secondary tile, in the element `SecondaryTileName` after those of the handle.
    public var hasSecondaryTiles: Bool
    public var templateFormat: TemplateFormat
    public var templateElements: [TemplateElement]
    /// The element of the credential in a hub description.
    public var credentialElement: String
    /// The index of that element in the description, from 0 (NotificationHubs.md, section 13.2): a known client ignores
    /// elements that are out of order. nil if Azure Notification Hubs has no such element; then it is in no document.
    public var credentialOrder: Int?
    public var credentialFields: [CredentialField]
    /// The platform whose credential is used: another platform if the push service was replaced by that of the other.
    public var credentialPlatform: PlatformID
    /// The telemetry element of the outcome counts.
    public var outcomeCountsElement: String
    /// The index of that element among those of all platforms, from 0 (NotificationHubs.md, section 8.1): a known
    /// client ignores elements that are out of order. Index 5 is the URI of the error details. Elements without an
    /// index come last.
    public var outcomeCountsIndex: Int
    /// The prefixes, in lower case, of the send headers that are passed to the translator.
    public var fieldPrefixes: [String]
    /// The largest payload of any kind of message, in bytes.
    public var payloadLimit: Int
    /// Words, in lower case, by which the `User-Agent` identifies clients that cannot read registrations of the
    /// platform, and would fail on a whole feed that contains one. Feeds for these clients omit such registrations
    /// (NotificationHubs.md, section 16, trap 24).
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
