public import MartletModel

/// A handle in a hub with its tags and, for template sends, with a template. A device can have several registrations.
public struct Registration: Sendable {
    /// The id of the registration: an opaque text that can be a path segment of a URL. `DeviceRegistry.newID` generates
    /// ids in the hub's own form.
    public let id: String
    public var platform: PlatformID
    public var handle: PushHandle
    /// The tags in the order in which the caller wrote them, without duplicates. Tags that differ only in case are
    /// equal.
    public var tags: [Tag]
    /// The template; nil for a native registration, which gets payloads in the format of its platform.
    public var template: Template?
    /// Values for expressions of the template, used in addition to the properties of the notification.
    public var pushVariables: [String: String]
    /// The secondary tile that the handle belongs to, on platforms that have secondary tiles.
    public var secondaryTile: String?
    /// The id of the installation to which the registration belongs; nil if it belongs to none. A write of the
    /// installation also writes the registration.
    public var installation: String?
    /// How often the registration was written, from 1. This number is used as the entity tag.
    public var version: Int64
    /// The time when the registration expires; nil if it never expires.
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
