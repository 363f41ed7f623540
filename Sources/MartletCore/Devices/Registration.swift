public import MartletModel

/// A device's entry in a hub: a handle with tags under an id.
public struct Registration: Sendable {
    /// Opaque text that fits a path segment; `RegistrationID.new` makes the hub's own form.
    public let id: String
    public var platform: PlatformID
    public var handle: PushHandle
    /// In the order given, each once, compared without case.
    public var tags: [Tag]
    /// Counts the writes, from 1: the entity tag.
    public var version: Int64
    /// nil: never.
    public var expiresAt: Timestamp?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        id: String, platform: PlatformID, handle: PushHandle, tags: [Tag], version: Int64, expiresAt: Timestamp?,
        createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.version = version
        self.expiresAt = expiresAt
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
