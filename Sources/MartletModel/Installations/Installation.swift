/// One app on one device as it describes itself under an id of its own: a channel, and what is to reach it
/// (NotificationHubs.md, section 5.2).
///
/// In a hub it stands for one registration without a template and one for each template, all of which carry
/// `$InstallationId:{ID}` and `$UserId:{USER}`.
public struct Installation: Hashable, Sendable {
    /// What its address in the hub ends with; see `isValid(id:)`.
    public let id: String
    /// The user whose device it is; one user may have many.
    public var userID: String?
    public var platform: PlatformID
    public var pushChannel: InstallationChannel
    /// Whether the push service has said that the channel is dead. The server's to say: it is not read from what clients
    /// send.
    public var isPushChannelExpired: Bool
    /// nil: never.
    public var expirationTime: Timestamp?
    /// In the order given, each once.
    public var tags: [Tag]
    /// Values for the expressions in templates, besides those of the message.
    public var pushVariables: [String: String]
    /// By their names.
    public var templates: [String: InstallationTemplate]
    /// By their ids.
    public var secondaryTiles: [String: SecondaryTile]

    public init(
        id: String, userID: String? = nil, platform: PlatformID, pushChannel: InstallationChannel,
        isPushChannelExpired: Bool = false, expirationTime: Timestamp? = nil, tags: [Tag] = [],
        pushVariables: [String: String] = [:], templates: [String: InstallationTemplate] = [:],
        secondaryTiles: [String: SecondaryTile] = [:]
    ) {
        self.id = id
        self.userID = userID
        self.platform = platform
        self.pushChannel = pushChannel
        self.isPushChannelExpired = isPushChannelExpired
        self.expirationTime = expirationTime
        self.tags = tags
        self.pushVariables = pushVariables
        self.templates = templates
        self.secondaryTiles = secondaryTiles
    }

    /// `$InstallationId:{ID}`, then `$UserId:{USER}` where there is a user that can be in a tag: what every
    /// registration of it carries. Any other user is only stored.
    /// - Throws: `InstallationError` for an id that cannot be in a tag.
    public var systemTags: [Tag] {
        get throws(InstallationError) {
            guard Self.isValid(id: id), let own = try? Tag("$InstallationId:{\(id)}") else {
                throw InstallationError(
                    "An installation's id has 1 to 256 bytes without spaces, slashes, commas and braces.")
            }
            guard let userID, let user = try? Tag("$UserId:{\(userID)}") else { return [own] }
            return [own, user]
        }
    }

    /// Whether a text fits into one segment of a path and into the tag `$InstallationId:{ID}`.
    public static func isValid(id: String) -> Bool {
        !id.utf8.contains { "/\\".utf8.contains($0) } && (try? Tag("$InstallationId:{\(id)}")) != nil
    }
}
