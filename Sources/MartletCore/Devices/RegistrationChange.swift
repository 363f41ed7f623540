public import MartletModel

/// A write to one registration.
public enum RegistrationChange: Sendable {
    /// Creates or replaces the registration of this id. One that belongs to an installation leaves it.
    case put(RegistrationDraft, id: String, condition: WriteCondition)
    /// Removes it; its id then answers "gone" for as long as tombstones are kept. Its installation, where it belongs to
    /// one, stays without it until the device writes the installation again.
    case delete(id: String, condition: WriteCondition)
    /// Creates or replaces one registration of an installation, and the installation where there is none.
    case merge(InstallationMerge)
}

/// What a caller says of a registration; the rest is the store's to fill.
public struct RegistrationDraft: Sendable {
    public var platform: PlatformID
    /// In the platform's canonical form where there is one, else as given: handles compare by `handleKey`.
    public var handle: PushHandle
    /// What the platform compares handles by, such as the lower-case form of a token.
    public var handleKey: String
    public var tags: [Tag]
    public var template: Template?
    public var pushVariables: [String: String]
    public var secondaryTile: String?
    public var expiresAt: Timestamp?
    /// The handle is this registration's alone: others that point at it are removed in the same transaction and their
    /// ids answer "gone". This is how a device changes hands.
    public var takesHandle: Bool

    public init(
        platform: PlatformID, handle: PushHandle, handleKey: String, tags: [Tag], template: Template? = nil,
        pushVariables: [String: String] = [:], secondaryTile: String? = nil, expiresAt: Timestamp? = nil,
        takesHandle: Bool = false
    ) {
        self.platform = platform
        self.handle = handle
        self.handleKey = handleKey
        self.tags = tags
        self.template = template
        self.pushVariables = pushVariables
        self.secondaryTile = secondaryTile
        self.expiresAt = expiresAt
        self.takesHandle = takesHandle
    }
}

/// What must hold for a write to happen (`If-Match`).
public enum WriteCondition: Hashable, Sendable {
    /// Nothing: a put creates or replaces.
    case none
    /// There is such a registration.
    case exists
    /// There is one and this is its version.
    case version(Int64)
    /// There is one and it carries this tag: writing what is one's own. A put also creates where there is none.
    case tagged(Tag)
}

/// Why a write to a registration did not happen.
public enum RegistrationRefusal: Error, Hashable, Sendable {
    case notFound
    /// The id was used, then deleted or expired; a new one is needed.
    case gone
    /// Its version is another.
    case versionMismatch
    /// It does not carry the tag of `WriteCondition.tagged`.
    case notTagged
    /// The installation cannot have the registration that was to be merged into it; the sentence says why.
    case notMergeable(String)
}
