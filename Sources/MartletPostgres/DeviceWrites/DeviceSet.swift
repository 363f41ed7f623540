import MartletCore
import MartletModel

/// The registrations, channels and installations that a group of writes changes: as they were read, and as they are
/// after the writes. The extensions of this type decide what a write changes. The type does no I/O.
struct DeviceSet {
    let shard: Shard
    /// True if the hub exists.
    let exists: Bool
    var ordinals: Ordinals
    var registrations: [Int64: Change<StoredRegistration>] = [:]
    private var sequences: [String: Int64] = [:]
    private var sequencesByChannel: [Int64: Set<Int64>] = [:]
    private var sequencesByInstallation: [Int64: Set<Int64>] = [:]
    private(set) var channelNumbers: [HandleKey: Int64] = [:]
    var channels: [Int64: Change<StoredChannel>] = [:]
    var installations: [String: Change<StoredInstallation>] = [:]
    var tombstones: Set<String> = []
    var newTombstones: [String: Timestamp] = [:]
    var tags: [TagKey: Int64] = [:]
    var newTags: [TagKey: Int64] = [:]
    var contents: [[UInt8]: Int64] = [:]
    var newContents: [[UInt8]: Int64] = [:]
    var history: [EndedVersion] = []
    /// Channels that a registration has left, with the time of that registration's last write.
    var leftChannels: [Int64: Timestamp] = [:]
    /// Channels with a new spelling of their handle. All registrations of the channel get this spelling, also
    /// registrations that were not read.
    var spellings: [Int64: (platform: Int32, handle: String)] = [:]
    /// The device keys that were set, by the registration's sequence number; nil for a key that was removed.
    var keys: [Int64: StoredDeviceKey?] = [:]
    /// Dead slots of installations that were not read, by the installation's sequence number.
    var deadSlots: [Int64: Set<String>] = [:]
    /// The requested jobs that exist, each with the number of lines that it has processed.
    var jobs: [String: Int64] = [:]
    /// The incarnation of the node that runs the jobs, and whether that node owns the shard.
    var node: Int64?
    var isOwner = false
    /// The progress of jobs, which is stored together with the writes.
    var progress: [String: JobProgress] = [:]
    /// The names of tags and the encoded contents, by their numbers, for writes whose results contain them.
    var tagNames: [Int64: String] = [:]
    var describedContents: [Int64: [UInt8]] = [:]

    /// A value before and after the writes; nil if it does not exist at that time.
    struct Change<Value> {
        let old: Value?
        var new: Value?
    }

    /// A state that a registration had before a write changed or removed it.
    struct EndedVersion {
        var change: Int64
        var registration: StoredRegistration
        var cause: RegistrationEnding
        var at: Timestamp
    }

    init(shard: Shard, ordinals: Ordinals?) {
        self.shard = shard
        self.exists = ordinals != nil
        self.ordinals = ordinals ?? Ordinals()
    }
}

/// The device key of a registration, and the tag under which the key was stored.
struct StoredDeviceKey {
    var tag: String
    var key: DeviceKey
}

struct StoredChannel: Equatable {
    var number: Int64
    var platform: Int32
    var registeredAt: Timestamp
    var isSuspected: Bool
    /// The handle; nil unless the channel is new or has got a new handle.
    var key: HandleKey?
}

struct StoredInstallation: Equatable {
    var sequence: Int64
    var version: Int64
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var expiresAt: Timestamp?
    var document: [UInt8]
    var deadSlots: Set<String>

    func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

// MARK: What was read

extension DeviceSet {
    mutating func addRead(_ registration: StoredRegistration) {
        guard registrations[registration.sequence] == nil else { return }
        registrations[registration.sequence] = Change(old: registration, new: registration)
        index(registration)
    }

    mutating func addRead(_ channel: StoredChannel, key: HandleKey?) {
        if channels[channel.number] == nil { channels[channel.number] = Change(old: channel, new: channel) }
        if let key { channelNumbers[key] = channel.number }
    }
}

// MARK: Look-ups

extension DeviceSet {
    func find(_ id: String) -> StoredRegistration? { sequences[id].flatMap { registrations[$0]?.new } }

    /// Returns the registrations of a channel, in the order of their creation. A write that calls this must request all
    /// of them in its `DeviceNeeds`.
    func registrations(ofChannel channel: Int64) -> [StoredRegistration] {
        (sequencesByChannel[channel] ?? []).sorted().compactMap { registrations[$0]?.new }
    }

    func registrations(ofInstallation sequence: Int64) -> [StoredRegistration] {
        (sequencesByInstallation[sequence] ?? []).sorted().compactMap { registrations[$0]?.new }
    }

    func tag(_ key: TagKey) -> Int64? { tags[key] ?? newTags[key] }
}

// MARK: Changes

extension DeviceSet {
    /// Sets the new state of a registration; nil removes the registration.
    mutating func set(_ new: StoredRegistration?, of sequence: Int64) {
        if let old = registrations[sequence]?.new { unindex(old) }
        registrations[sequence] = Change(old: registrations[sequence]?.old, new: new)
        if let new { index(new) }
    }

    mutating func setKey(_ key: HandleKey, of channel: Int64) {
        channelNumbers = channelNumbers.filter { $0.value != channel }
        channelNumbers[key] = channel
        channels[channel]?.new?.key = key
        channels[channel]?.new?.isSuspected = false
    }

    /// Makes a channel for a handle that no channel has.
    mutating func makeChannel(_ key: HandleKey) -> Int64 {
        ordinals.channels += 1
        let number = ordinals.channels
        channels[number] = Change(
            old: nil,
            new: StoredChannel(
                number: number, platform: key.platform, registeredAt: Timestamp(milliseconds: 0), isSuspected: false,
                key: key))
        channelNumbers[key] = number
        return number
    }

    mutating func tagMadeIfMissing(_ key: TagKey) -> Int64 {
        if let known = tag(key) { return known }
        ordinals.tags += 1
        let id = Int64(shard.number) << 32 | ordinals.tags
        newTags[key] = id
        tagNames[id] = key.name
        return id
    }

    mutating func contentMadeIfMissing(_ content: [UInt8]) -> Int64 {
        if let known = contents[content] ?? newContents[content] { return known }
        ordinals.contents += 1
        newContents[content] = ordinals.contents
        describedContents[ordinals.contents] = content
        return ordinals.contents
    }

    /// Adds to the history the state that a registration has before a change.
    mutating func keep(_ old: StoredRegistration, _ cause: RegistrationEnding, at now: Timestamp) {
        ordinals.changes += 1
        history.append(EndedVersion(change: ordinals.changes, registration: old, cause: cause, at: now))
    }

    /// Notes that a registration has left its channel. A channel that has no registrations any more is removed.
    mutating func leave(_ old: StoredRegistration) {
        leftChannels[old.channel] = max(leftChannels[old.channel] ?? old.updatedAt, old.updatedAt)
    }

    /// Records that a slot of an installation is dead: no registration has it until the installation is written again.
    mutating func close(_ row: StoredRegistration.InstallationReference) {
        if installations[row.id]?.new?.sequence == row.installation {
            installations[row.id]?.new?.deadSlots.insert(row.slot)
        } else {
            deadSlots[row.installation, default: []].insert(row.slot)
        }
    }

    private mutating func index(_ registration: StoredRegistration) {
        sequences[registration.id] = registration.sequence
        sequencesByChannel[registration.channel, default: []].insert(registration.sequence)
        if let row = registration.row {
            sequencesByInstallation[row.installation, default: []].insert(registration.sequence)
        }
    }

    private mutating func unindex(_ registration: StoredRegistration) {
        sequences[registration.id] = nil
        sequencesByChannel[registration.channel]?.remove(registration.sequence)
        if let row = registration.row {
            sequencesByInstallation[row.installation]?.remove(registration.sequence)
        }
    }
}
