public import MartletModel

/// Stores channels, registrations, tags and installations. Every write is durable when the call returns. Concurrent
/// writes share one transaction.
public protocol DeviceStore: InstallationStore {
    /// Applies writes in the given order and in one transaction. A refused write does not prevent the other writes.
    /// - Returns: The result of each write. On success, this is the registration as it is stored now or, for a delete,
    ///   as it was before. On refusal, this is the reason why nothing was changed.
    func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>]

    /// Returns the registration with an id; nil if it does not exist or has expired.
    func registration(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Registration?

    /// Returns one page of a listing of registrations, in the order of creation. No registration is listed twice or
    /// missed when others are added or removed between two pages.
    func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage

    /// Returns one page of the audience of a send, in ascending order of the members. In a native send, each matching
    /// channel is one member, regardless of how many of its registrations match. In a template send, each matching
    /// registration is a member.
    func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage

    /// Counts the audience of a send by the rules of `audience`. Reads the audience in pages, so that other reads can
    /// run in between. Keeps no page in memory.
    func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount

    /// Returns the template bindings with the given ids, in any order. Bindings that no registration uses any more are
    /// left out.
    func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]

    /// Returns one page of the tags of the channels that a send reaches. Each tag occurs once in a page. The channels
    /// are those in one page of `audience`. Tags are included even if they belong to a registration of the channel that
    /// the send does not match.
    /// - Parameter prefix: The beginning of the tags, such as `username:`. Upper and lower case are not distinguished.
    func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage

    /// Returns the first tags, sorted by name, that begin with a prefix and that a native registration of the hub has.
    /// - Parameter prefix: The beginning of the tags, in lower-case ASCII.
    func tags(beginningWith prefix: String, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Tag]

    /// Applies the reports of push services about channels: removes dead channels with their registrations, replaces
    /// changed handles, and records which devices are suspected to be stale.
    /// - Returns: The number of removed channels.
    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Int

    /// Returns at most `limit` channels of suspected stale devices, in the order of the channel ids. A channel that is
    /// registered again is no longer suspected.
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
        /// The registrations of a handle, given by the key of the handle. If the platform is nil, all platforms are
        /// searched.
        case handle(platform: PlatformID?, key: String)
    }

    public var hub: Hub.ID
    public var filter: Filter
    /// The position at which the previous page ended; nil for the first page.
    public var after: Int64?
    public var limit: Int
    /// The size in bytes (`Registration.memoryBytes`) at which a page ends. The last registration of the page may
    /// exceed it.
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
    /// The maximum memory of a page, in bytes. The last registration of the page may exceed it.
    public static let byteLimit = 4 << 20
}

public struct RegistrationPage: Sendable {
    public var registrations: [Registration]
    /// The position at which the next page begins (`RegistrationQuery.after`); nil if this is the last page.
    public var next: Int64?

    public init(registrations: [Registration], next: Int64?) {
        self.registrations = registrations
        self.next = next
    }
}

/// The tags of the channels in one page of an audience.
public struct TagPage: Sendable {
    public var tags: Set<Tag>
    /// The position at which the next page begins (`AudienceQuery.after`); nil if this is the last page.
    public var next: AudienceMember?

    public init(tags: Set<Tag>, next: AudienceMember?) {
        self.tags = tags
        self.next = next
    }
}

/// A report of a push service about a channel.
public struct ChannelFeedback: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The handle is dead. If there is a timestamp, the handle counts as dead only if it was not registered again
        /// after that time.
        case gone(asOf: Timestamp?)
        /// The push service has replaced the handle with another one.
        case moved(PushHandle, key: String)
        /// A push was refused. The device is kept, and is suspected to be stale.
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
