/// One app on one device, described by its client under its own id: a channel, and what it subscribes to
/// (NotificationHubs.md, section 5.2).
///
/// In a hub, an installation stands for one registration without a template and one for each template, all of which
/// have the tags `$InstallationId:{ID}` and `$UserId:{USER}`.
public struct Installation: Hashable, Sendable {
    /// The id, the last part of the installation's URL in the hub; see `isValid(id:)`.
    public let id: String
    /// The user of the device; a user may have many devices.
    public var userID: String?
    public var platform: PlatformID
    public var pushChannel: InstallationChannel
    /// True if the push service has reported the channel as gone. Set by the server only: ignored in documents from
    /// clients.
    public var isPushChannelExpired: Bool
    /// When the installation expires; nil for never.
    public var expirationTime: Timestamp?
    /// The tags in the given order, without duplicates.
    public var tags: [Tag]
    /// Values for the expressions in templates, in addition to the properties of the notification.
    public var pushVariables: [String: String]
    /// The templates by name.
    public var templates: [String: InstallationTemplate]
    /// The secondary tiles by id.
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

    /// The tags of every registration of the installation: `$InstallationId:{ID}`, then `$UserId:{USER}` if the user id
    /// is valid in a tag. Any other user id is only stored.
    /// - Throws: `InstallationError` for an id that is not valid in a tag.
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

    /// True if an id is valid in one segment of a path and in the tag `$InstallationId:{ID}`.
    public static func isValid(id: String) -> Bool {
        !id.utf8.contains { "/\\".utf8.contains($0) } && (try? Tag("$InstallationId:{\(id)}")) != nil
    }
}
