public import MartletModel

/// A device's entry in a hub: a handle with tags under an id.
public struct Registration: Sendable {
    /// Opaque text that fits a path segment; `DeviceRegistry.newID` makes the hub's own form.
    public let id: String
    public var platform: PlatformID
    public var handle: PushHandle
    /// In the order given, each once, compared without case.
    public var tags: [Tag]
    /// nil for a native registration, which takes payloads in the platform's own form.
    public var template: Template?
    /// Properties that templates see besides those of the notification.
    public var pushVariables: [String: String]
    /// The secondary tile that the handle belongs to, on platforms that have such.
    public var secondaryTile: String?
    /// The id of the installation that this is a row of; it then changes with the installation alone.
    public var installation: String?
    /// Counts the writes, from 1: the entity tag.
    public var version: Int64
    /// nil: never.
    public var expiresAt: Timestamp?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        id: String, platform: PlatformID, handle: PushHandle, tags: [Tag], template: Template? = nil,
        pushVariables: [String: String] = [:], secondaryTile: String? = nil, installation: String? = nil,
        version: Int64, expiresAt: Timestamp?, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.template = template
        self.pushVariables = pushVariables
        self.secondaryTile = secondaryTile
        self.installation = installation
        self.version = version
        self.expiresAt = expiresAt
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
