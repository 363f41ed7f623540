public import MartletModel

/// Keeps channels, registrations, tags and installations. Every write is durable when it returns; concurrent writes
/// share one transaction.
public protocol DeviceStore: InstallationStore {
    /// Applies writes in order and in one transaction; a refused write does not prevent the others.
    /// - Returns: For each write the registration as it is stored now (for a delete, as it was), or why nothing was
    ///   changed.
    func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>]

    /// The registration with an id; nil if there is none or it has expired.
    func registration(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Registration?

    /// One page of a listing, in the order of creation, which stays correct while registrations are added and removed.
    func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage

    /// One page of the audience of a send, in order: in a native send each channel once, however many of its
    /// registrations match; in a template send each registration that matches.
    func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage

    /// Counts the audience of a send, by the rules of `audience`. Reads the audience in pages, so that other reads can
    /// run in between, and keeps none of them.
    func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount

    /// The template bindings with these ids, in no order, except those that no registration uses any more.
    func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]

    /// One page of tags of the channels that a send reaches, including tags of a channel's registrations that do not
    /// match. The channels are those of a page of `audience`; each tag is in a page once.
    /// - Parameter prefix: The beginning of the tags, such as `username:`; compared without case.
    func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage

    /// The first tags by name that begin with a prefix and that any registration of a hub without a template has.
    /// - Parameter prefix: In lower case, ASCII.
    func tags(beginningWith prefix: String, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Tag]

    /// Applies what push services have reported about channels: removes dead ones with their registrations, and
    /// replaces changed handles.
    /// - Returns: The number of removed channels.
    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Int

    /// The channels of suspected stale devices, in order, at most `limit`. A channel that is registered again is no
    /// longer suspected.
    func suspectedStale(of platform: PlatformID, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [ChannelID]
}

extension DeviceStore {
    /// Applies one write.
    public func apply(
        _ change: RegistrationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<Registration, RegistrationRefusal> {
        try await apply([change], in: hub, at: now)[0]
    }
}

/// Selects the registrations of a listing.
public struct RegistrationQuery: Sendable {
    public enum Filter: Sendable {
        case all
        case tag(Tag)
        /// A platform and a handle key; nil for any platform.
        case handle(platform: PlatformID?, key: String)
    }

    public var hub: Hub.ID
    public var filter: Filter
    /// Where the previous page ended; nil for the first page.
    public var after: Int64?
    public var limit: Int
    /// The page ends with the registration that reaches this size in bytes (`Registration.memoryBytes`).
    public var byteLimit: Int
    public var now: Timestamp

    public init(
        hub: Hub.ID, filter: Filter, after: Int64? = nil, limit: Int, byteLimit: Int = Self.byteLimit, now: Timestamp
    ) {
        self.hub = hub
        self.filter = filter
        self.after = after
        self.limit = limit
        self.byteLimit = byteLimit
        self.now = now
    }
}

extension RegistrationQuery {
    /// The most memory of a page in bytes, which its last registration may exceed.
    public static let byteLimit = 4 << 20
}

public struct RegistrationPage: Sendable {
    public var registrations: [Registration]
    /// The `RegistrationQuery.after` of the next page; nil if this is the last.
    public var next: Int64?

    public init(registrations: [Registration], next: Int64?) {
        self.registrations = registrations
        self.next = next
    }
}

/// The tags of a page of an audience.
public struct TagPage: Sendable {
    public var tags: Set<Tag>
    /// The `AudienceQuery.after` of the next page; nil if this is the last.
    public var next: AudienceMember?

    public init(tags: Set<Tag>, next: AudienceMember?) {
        self.tags = tags
        self.next = next
    }
}

/// What a push service has reported about a channel.
public struct ChannelFeedback: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The handle is dead. With a timestamp, this holds only if the handle was not registered again after it.
        case gone(asOf: Timestamp?)
        /// The handle has been replaced.
        case moved(PushHandle, key: String)
        /// A push was refused; the device is kept, and suspected to be stale.
        case suspected
        /// The device was reached and is no longer suspected.
        case trusted
    }

    public var channel: ChannelID
    public var kind: Kind

    public init(channel: ChannelID, kind: Kind) {
        self.channel = channel
        self.kind = kind
    }
}
