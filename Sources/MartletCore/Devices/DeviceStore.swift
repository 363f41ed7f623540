public import MartletModel

/// Keeps channels, registrations, tags and installations. Every write is durable when it returns; writes that wait at
/// the same time share one transaction.
public protocol DeviceStore: InstallationStore {
    /// Does writes in their order and in one transaction; one that is refused does not hold up the others.
    /// - Returns: For each the registration as it is stored now (as it was, for a delete), or why nothing was changed.
    func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>]

    /// The registration of an id, or nil where there is none or it has expired.
    func registration(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Registration?

    /// One page of a listing, in the order of first creation, which stays right while registrations come and go.
    func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage

    /// One page of what a send reaches, in order: of a native send each channel once however many of its registrations
    /// match, of a template send each registration that matches.
    func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage

    /// How many a send reaches, by the rules of `audience`. Goes through the audience in pages between which other reads
    /// have their turn, and keeps nothing of it.
    func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount

    /// What renderings are, in no order, without those that no registration has any more.
    func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]

    /// Tags of the registrations of the channels that a send reaches, whichever of a channel's registrations match: the
    /// channels of `audience`'s page, with the tags that begin so, each once a page.
    /// - Parameter prefix: Compared without case, such as `username:`.
    func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage

    /// Acts on what push services said of channels: removes those that are gone, with their registrations, and moves
    /// those that have a new handle.
    /// - Returns: How many channels were removed.
    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Int

    /// Channels that are suspected, in order, at most `limit`. One that is registered again is none any more.
    func suspectedStale(of platform: PlatformID, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [ChannelID]
}

extension DeviceStore {
    /// Does one write.
    public func apply(
        _ change: RegistrationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<Registration, RegistrationRefusal> {
        try await apply([change], in: hub, at: now)[0]
    }
}

/// What a listing is to show.
public struct RegistrationQuery: Sendable {
    public enum Filter: Sendable {
        case all
        case tag(Tag)
        /// A platform and a handle key; a nil platform means any.
        case handle(platform: PlatformID?, key: String)
    }

    public var hub: Hub.ID
    public var filter: Filter
    /// Where the page before ended; nil for the first.
    public var after: Int64?
    public var limit: Int
    /// The page ends with the registration by which it takes so much memory (`Registration.memoryBytes`).
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
    /// How much memory a page takes, at most, but for its last registration.
    public static let byteLimit = 4 << 20
}

public struct RegistrationPage: Sendable {
    public var registrations: [Registration]
    /// What `RegistrationQuery.after` asks for the next page; nil where this is the last.
    public var next: Int64?

    public init(registrations: [Registration], next: Int64?) {
        self.registrations = registrations
        self.next = next
    }
}

/// Tags of a page of an audience.
public struct TagPage: Sendable {
    public var tags: Set<Tag>
    /// What `AudienceQuery.after` asks for the next page; nil where this is the last.
    public var next: AudienceMember?

    public init(tags: Set<Tag>, next: AudienceMember?) {
        self.tags = tags
        self.next = next
    }
}

/// What a push service said of a channel.
public struct ChannelFeedback: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The handle is dead. With a timestamp: unless it was registered again after it.
        case gone(asOf: Timestamp?)
        /// The handle has been replaced.
        case moved(PushHandle, key: String)
        /// It was refused, and is kept.
        case suspected
        /// It was reached, and is suspected no more.
        case trusted
    }

    public var channel: ChannelID
    public var kind: Kind

    public init(channel: ChannelID, kind: Kind) {
        self.channel = channel
        self.kind = kind
    }
}
