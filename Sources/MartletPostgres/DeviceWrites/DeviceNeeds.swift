import MartletCore
import MartletModel

/// What writes of devices have to know before they can be decided.
struct DeviceNeeds: Sendable {
    /// Ids of registrations, whether they are there, and whether they are gone.
    var registrations: Set<String> = []
    /// Ids of installations, with their registrations.
    var installations: Set<String> = []
    /// Handles, and whether the registrations that have them are needed too.
    var handles: [HandleKey: Bool] = [:]
    /// Channels, with their registrations.
    var channels: Set<Int64> = []
    /// Channels with the keys of the handles to which they move; the channels that have these handles are needed too.
    var moves: [(channel: Int64, key: String)] = []
    var tags: Set<TagKey> = []
    /// Encoded templates and push variables.
    var contents: Set<[UInt8]> = []
    /// Ids of jobs whose progress is stored with the writes.
    var jobs: Set<String> = []
    /// The node that runs the jobs, and must own the shard.
    var node: Int64?
    /// Ids of registrations of which it must be known what their numbers stand for.
    var described: Set<String> = []

    mutating func formUnion(_ other: DeviceNeeds) {
        registrations.formUnion(other.registrations)
        installations.formUnion(other.installations)
        handles.merge(other.handles) { $0 || $1 }
        channels.formUnion(other.channels)
        moves += other.moves
        tags.formUnion(other.tags)
        contents.formUnion(other.contents)
        jobs.formUnion(other.jobs)
        node = node ?? other.node
        described.formUnion(other.described)
    }

    mutating func add(_ feedback: [ChannelFeedback]) {
        for item in feedback {
            channels.insert(item.channel.rawValue)
            if case .moved(_, let key) = item.kind { moves.append((item.channel.rawValue, key)) }
        }
    }

    mutating func add(_ draft: RegistrationDraft, on platform: Int32, in shard: Shard) {
        let key = HandleKey(platform: platform, key: draft.handleKey)
        handles[key] = draft.takesHandle || (handles[key] ?? false)
        let scope = Scope(platform: platform, draft.template == nil ? .native : .template)
        for tag in draft.tags { tags.insert(TagKey(scope: scope, shard: shard, name: tag.folded)) }
        if let template = draft.template { contents.insert(ContentCoding.encode(template)) }
        if !draft.pushVariables.isEmpty { contents.insert(ContentCoding.encode(draft.pushVariables)) }
    }
}

/// A handle as a platform compares it.
struct HandleKey: Hashable, Sendable {
    var platform: Int32
    var key: String

    /// What is hashed to find the channel.
    var bytes: [UInt8] { withUnsafeBytes(of: platform.bigEndian) { Array($0) } + Array(key.utf8) }
}
