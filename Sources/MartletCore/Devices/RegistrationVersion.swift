public import MartletModel

/// A current or former version of a registration, with all the data that decides what is sent to the device.
public struct RegistrationVersion: Sendable {
    /// The end of a version: the number, time and cause of the change that ended it.
    public struct End: Hashable, Sendable {
        /// The number of the change that ended the version. All such changes in all hubs are counted together, from 1.
        public var change: Int64
        public var at: Timestamp
        public var cause: RegistrationEnding

        public init(change: Int64, at: Timestamp, cause: RegistrationEnding) {
            self.change = change
            self.at = at
            self.cause = cause
        }
    }

    /// The sequence number of the registration. All versions of a registration have the same number.
    public var sequence: Int64
    public var id: String
    /// The id of the installation to which the registration belongs.
    public var installation: String?
    public var platform: PlatformID
    public var channel: ChannelID
    public var handle: PushHandle
    public var tags: [Tag]
    /// The template; nil for a native registration.
    public var template: Template?
    public var pushVariables: [String: String]
    /// The time when the registration expires; nil if it never expires.
    public var expiresAt: Timestamp?
    /// The time when the registration was created.
    public var createdAt: Timestamp
    /// The end of the version; nil for the current version.
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

    /// The version as a member of a send. In a native send, this is its channel; in a template send, its registration.
    var member: AudienceMember {
        AudienceMember(channel: channel, registration: template == nil ? 0 : sequence)
    }
}

/// The cause of a version's end.
public enum RegistrationEnding: String, Hashable, Sendable {
    /// The registration was written with other tags, another handle, another template or other push variables.
    case changed
    /// An authorized caller deleted the registration.
    case deleted
    /// Another registration took the handle, because the device has another user now.
    case taken
    /// The push service reported the handle as gone.
    case unregistered
    /// The push service replaced the handle.
    case moved
    /// The registration expired.
    case expired

    /// Whether the registration was removed.
    public var isRemoval: Bool {
        switch self {
        case .changed, .moved: false
        case .deleted, .taken, .unregistered, .expired: true
        }
    }
}

/// The history of a device: all kept versions of its registrations.
public struct RegistrationPast: Sendable {
    /// The maximum number of versions that are returned.
    public static let limit = 1000

    /// The versions, sorted by their ends; current versions come last.
    public var versions: [RegistrationVersion]
    /// The number of the oldest change since which all versions are kept. For earlier snapshots, versions may be
    /// missing.
    public var knownSince: Int64

    public init(versions: [RegistrationVersion], knownSince: Int64) {
        self.versions = versions
        self.knownSince = knownSince
    }

    /// Returns the versions that were current in a snapshot, at most one for each registration.
    public func versions(at snapshot: AudienceSnapshot) -> [RegistrationVersion] {
        var seen: Set<Int64> = []
        return versions.filter { version in
            guard version.sequence <= snapshot.registration, version.end.map({ $0.change > snapshot.change }) ?? true
            else { return false }
            return seen.insert(version.sequence).inserted
        }
    }
}
