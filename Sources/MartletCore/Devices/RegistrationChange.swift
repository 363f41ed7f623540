public import MartletModel

/// A write to one registration.
public enum RegistrationChange: Sendable {
    /// Creates or replaces the registration with this id. If the registration belonged to an installation, it no longer
    /// belongs to it.
    case put(RegistrationDraft, id: String, condition: WriteCondition)
    /// Deletes the registration and keeps a tombstone. As long as the tombstone is kept, requests with the id of the
    /// registration are answered with "gone". If the registration belongs to an installation, no tombstone is kept. The
    /// installation then lacks this registration until the device writes the installation again.
    case delete(id: String, condition: WriteCondition)
    /// Creates or replaces one registration of an installation; creates the installation if there is none.
    case merge(InstallationMerge)
}

/// A registration as a caller describes it. The store adds the version and the times.
public struct RegistrationDraft: Sendable {
    public var platform: PlatformID
    /// The handle. If the platform has a canonical form of handles, the handle is in that form. Handles are compared by
    /// `handleKey`.
    public var handle: PushHandle
    /// The key by which the platform compares handles, such as a token in lower case.
    public var handleKey: String
    public var tags: [Tag]
    public var template: Template?
    public var pushVariables: [String: String]
    public var secondaryTile: String?
    public var expiresAt: Timestamp?
    /// Whether the registration takes over the handle. If true, other registrations of the handle are deleted in the
    /// same transaction and in the same way as by `RegistrationChange.delete`. Used when another user logs in on a
    /// device.
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

/// The precondition of a write (`If-Match`).
public enum WriteCondition: Hashable, Sendable {
    /// No condition: the write creates or replaces the registration.
    case none
    /// The registration does not exist yet.
    case absent
    /// The id was generated for this write (`DeviceRegistry.newID`), so no registration has or had this id. The store
    /// need not look for such a registration.
    case fresh
    /// The registration exists.
    case exists
    /// The registration exists and has this version.
    case version(Int64)
    /// The registration exists and has this tag. With this condition, callers can write only their own registrations. A
    /// put may also create a new registration.
    case tagged(Tag)
}

/// The reasons why a write to a registration was refused.
public enum RegistrationRefusal: Error, Hashable, Sendable {
    case notFound
    /// The id was used by a registration that was deleted or has expired; a new id is needed.
    case gone
    /// The registration has another version, or exists although the condition was `absent`.
    case versionMismatch
    /// The registration does not have the tag of `WriteCondition.tagged`.
    case notTagged
    /// The registration cannot be merged into the installation; the text explains why.
    case notMergeable(String)
}

extension RegistrationRefusal {
    /// The refusal as a sentence; it contains no handle.
    public var sentence: String {
        switch self {
        case .notFound: "There is no registration of this id."
        case .gone: "The registration id can no longer be used."
        case .versionMismatch: "The registration has another ETag."
        case .notTagged: "The registration is not the caller's."
        case .notMergeable(let sentence): sentence
        }
    }
}
