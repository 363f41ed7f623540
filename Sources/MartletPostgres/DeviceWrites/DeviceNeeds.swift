import MartletCore
import MartletModel

/// The data that must be read before writes of devices can be decided.
struct DeviceNeeds: Sendable {
    /// Ids of registrations. Their registrations and tombstones are read.
    var registrations: Set<String> = []
    /// Ids of installations, which are read with their registrations.
    var installations: Set<String> = []
    /// Handles, whose channels are read. If the value is true, the registrations of the channel are read too.
    var handles: [HandleKey: Bool] = [:]
    /// Numbers of channels, which are read with their registrations.
    var channels: Set<Int64> = []
    /// Channels that get a new handle, with the key of that handle. If another channel has that handle already, that
    /// channel is read too.
    var moves: [(channel: Int64, key: String)] = []
    var tags: Set<TagKey> = []
    /// Encoded templates and push variables.
    var contents: Set<[UInt8]> = []
    /// Ids of jobs whose progress is stored with the writes.
    var jobs: Set<String> = []
    /// The incarnation of the node that runs the jobs. This node must own the shard.
    var node: Int64?
    /// Ids of registrations whose tag names, templates and push variables are read, not only their numbers.
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

/// A handle in the form by which its platform compares handles.
struct HandleKey: Hashable, Sendable {
    var platform: Int32
    var key: String

    /// The bytes whose hash identifies the channel: the number of the platform, and the key.
    var bytes: [UInt8] { withUnsafeBytes(of: platform.bigEndian) { Array($0) } + Array(key.utf8) }
}
