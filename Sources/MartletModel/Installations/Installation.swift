/// A document in which a client describes one app on one device: its channel, tags and templates (NotificationHubs.md,
/// section 5.2). The client chooses the id.
///
/// In a hub, an installation consists of one registration without a template and one registration for each template.
/// All of them have the tags `$InstallationId:{ID}` and `$UserId:{USER}`.
public struct Installation: Hashable, Sendable {
    /// The id, which is the last segment of the installation's URL in the hub; see `isValid(id:)`.
    public let id: String
    /// The user of the device; a user may have many devices.
    public var userID: String?
    public var platform: PlatformID
    public var pushChannel: InstallationChannel
    /// True if the push service has reported the channel as gone. Set only by the server; ignored in documents from
    /// clients.
    public var isPushChannelExpired: Bool
    /// The time when the installation expires; nil for never.
    public var expirationTime: Timestamp?
    /// The tags in the given order, without duplicates.
    public var tags: [Tag]
    /// The push variables by name. Expressions in templates can use them in addition to the properties of the
    /// notification.
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
    /// can be part of a tag. If it cannot, the user id is stored but there is no tag for it.
    /// - Throws: `InstallationError` if the installation's id cannot be part of a tag.
    public var systemTags: [Tag] {
        get throws(InstallationError) {
            guard Self.isValid(id: id), let own = try? Tag("$InstallationId:{\(id)}") else {
                throw InstallationError(
                    "An installation's id has 1 to 256 bytes without spaces, slashes, commas and braces.")
            }
            return [own] + [tagOfUser].compactMap(\.self)
        }
    }

    private var tagOfUser: Tag? { userID.flatMap { try? Tag("$UserId:{\($0)}") } }

    /// True if the installation's registrations have a tag with the user id.
    var hasTagOfUser: Bool { tagOfUser != nil }

    /// Returns true if an id can be both a path segment and part of the tag `$InstallationId:{ID}`.
    public static func isValid(id: String) -> Bool {
        !id.utf8.contains { "/\\".utf8.contains($0) } && (try? Tag("$InstallationId:{\(id)}")) != nil
    }
}
