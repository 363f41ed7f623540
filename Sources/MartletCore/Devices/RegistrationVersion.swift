public import MartletModel

/// A registration as it is, or as it was until it was changed or removed: as far as it decides what it is sent.
public struct RegistrationVersion: Sendable {
    /// How a version ended.
    public struct End: Hashable, Sendable {
        /// Counts the ends of versions in all hubs, from 1.
        public var change: Int64
        public var at: Timestamp
        public var cause: RegistrationEnding

        public init(change: Int64, at: Timestamp, cause: RegistrationEnding) {
            self.change = change
            self.at = at
            self.cause = cause
        }
    }

    /// The sequence number of the registration, the same in all its versions.
    public var sequence: Int64
    public var id: String
    /// The id of the installation that the registration is a row of.
    public var installation: String?
    public var platform: PlatformID
    public var channel: ChannelID
    public var handle: PushHandle
    public var tags: [Tag]
    /// nil for a native registration.
    public var template: Template?
    public var pushVariables: [String: String]
    /// nil: never.
    public var expiresAt: Timestamp?
    /// When the registration was first made.
    public var createdAt: Timestamp
    /// nil: it is so now.
    public var end: End?

    public init(
        sequence: Int64, channel: ChannelID, _ registration: Registration, end: End?
    ) {
        self.sequence = sequence
        self.channel = channel
        id = registration.id
        installation = registration.installation
        platform = registration.platform
        handle = registration.handle
        tags = registration.tags
        template = registration.template
        pushVariables = registration.pushVariables
        expiresAt = registration.expiresAt
        createdAt = registration.createdAt
        self.end = end
    }

    /// The member that a send to it has: of native content its channel, of templates itself.
    var member: AudienceMember {
        AudienceMember(channel: channel, registration: template == nil ? 0 : sequence)
    }
}

/// Why a registration is not any more as it was.
public enum RegistrationEnding: String, Hashable, Sendable {
    /// It was written with other tags, another handle or another template.
    case changed
    /// It was removed by an authorized caller.
    case deleted
    /// Its device changed hands: another registration has its handle for itself.
    case taken
    /// The push service said that its handle is dead.
    case unregistered
    /// The push service gave its device another handle.
    case moved
    /// It had expired.
    case expired

    /// Whether there was no registration any more.
    public var isRemoval: Bool {
        switch self {
        case .changed, .moved: false
        case .deleted, .taken, .unregistered, .expired: true
        }
    }
}

/// What is known of a device: every version of its registrations that is kept.
public struct RegistrationPast: Sendable {
    /// The most versions that are told.
    public static let limit = 1000

    /// In the order of their ends; those that are so now come last.
    public var versions: [RegistrationVersion]
    /// Every snapshot from this change on is known; of earlier ones versions may be missing.
    public var knownSince: Int64

    public init(versions: [RegistrationVersion], knownSince: Int64) {
        self.versions = versions
        self.knownSince = knownSince
    }

    /// The versions that were so in a snapshot, at most one of each registration.
    public func versions(at snapshot: AudienceSnapshot) -> [RegistrationVersion] {
        var seen: Set<Int64> = []
        return versions.filter { version in
            guard version.sequence <= snapshot.registration, version.end.map({ $0.change > snapshot.change }) ?? true
            else { return false }
            return seen.insert(version.sequence).inserted
        }
    }
}
