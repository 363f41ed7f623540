import MartletCore
import MartletModel

/// Removes channels that a push service reported as gone, with their registrations, on one connection.
///
/// The result is the same as with `RegistrationTable.remove` for each registration. For many registrations this type
/// costs less: statements are prepared once, rows are removed in the order of their keys, and each tag is looked up
/// once.
struct ChannelRemoval {
    private let connection: Connection
    private let hub: Hub.ID
    private let now: Timestamp
    private let tags: TagTable
    private var tagIDs: [TagName: Int64] = [:]
    private var memberships: [TagMember] = []

    private struct TagName: Hashable {
        var scope: TagScope
        var name: String
    }

    private struct TagMember: Comparable {
        var tag: Int64
        var channel: Int64
        var registration: Int64

        static func < (left: TagMember, right: TagMember) -> Bool {
            (left.tag, left.channel, left.registration) < (right.tag, right.channel, right.registration)
        }
    }

    /// The values of a registration that its removal needs.
    private struct Removed {
        var sequence: Int64
        var names: Set<String>
        var isOfTemplate: Bool
    }

    init(_ connection: Connection, in hub: Hub.ID, at now: Timestamp) {
        self.connection = connection
        self.hub = hub
        self.now = now
        tags = TagTable(connection)
    }

    /// Removes channels with their registrations. A channel is kept if it was registered again after the push service
    /// called it gone.
    /// - Parameter feedback: Items of the kind `.gone`; items of other kinds are ignored.
    /// - Returns: The number of removed channels.
    static func remove(
        _ feedback: some Sequence<ChannelFeedback>, _ connection: Connection, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Int {
        var removal = ChannelRemoval(connection, in: hub, at: now)
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let found = try removal.found(feedback, &statements)
        try removal.removeRegistrations(of: found, &statements)
        try removal.removeMemberships(&statements)
        try removal.removeUnusedTags()
        return found.count
    }

    /// Returns the channels that are to be removed, with their platforms, in ascending order of the channels.
    private func found(
        _ feedback: some Sequence<ChannelFeedback>, _ statements: inout BorrowedStatements
    ) throws(StorageError) -> [(channel: Int64, platform: PlatformID)] {
        let finding = try statements.take(ChannelTable.finding)
        try finding.bind(hub.rawValue, at: 2)
        var found: [(channel: Int64, platform: PlatformID)] = []
        var platform: PlatformID?
        for item in feedback.sorted(by: { $0.channel < $1.channel }) {
            guard case .gone(let timestamp) = item.kind, found.last?.channel != item.channel.rawValue else { continue }
            try finding.bind(item.channel.rawValue, at: 1)
            if try finding.step(), timestamp.map({ finding.timestamp(1) <= $0 }) ?? true {
                // Nearly all items have the same platform, so the name of the platform is read only when it differs
                // from the one before.
                if platform.map({ finding.isText($0.rawValue, 0) }) != true {
                    platform = PlatformID(rawValue: finding.text(0))
                }
                if let platform { found.append((item.channel.rawValue, platform)) }
            }
            finding.reset()
        }
        return found
    }

    /// Removes the registrations of channels, then the channels. Values are read from one statement and bound to the
    /// next, because SQLite keeps a separate journal for each `INSERT … SELECT`.
    private mutating func removeRegistrations(
        of channels: [(channel: Int64, platform: PlatformID)], _ statements: inout BorrowedStatements
    ) throws(StorageError) {
        let device = try statements.take(ChannelTable.remembered)
        let reading = try statements.take(
            """
            SELECT sequence, tags, template, installation, id, variables, expires_at, created_at, slot
            FROM registrations WHERE channel = ?
            """)
        let installation = try statements.take("SELECT id FROM installations WHERE sequence = ?")
        let history = try statements.take(
            """
            INSERT INTO registration_history (hub, channel, ended_at, cause, sequence, id, installation, platform, handle,
                tags, template, variables, expires_at, created_at)
            VALUES (?2, ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            """)
        try history.bind(hub.rawValue, at: 2)
        try history.bind(now, at: 3)
        try history.bind(RegistrationEnding.unregistered.rawValue, at: 4)
        let tombstones = try statements.take(
            """
            INSERT INTO tombstones (hub, gone_at, id) VALUES (?1, ?2, ?3)
            ON CONFLICT (hub, id) DO UPDATE SET gone_at = excluded.gone_at
            """)
        try tombstones.bind(now, at: 2)
        let slots = try statements.take("INSERT OR IGNORE INTO dead_slots (installation, slot) VALUES (?1, ?2)")
        let deletion = try statements.take("DELETE FROM registrations WHERE sequence = ?")
        let former = try statements.take(
            "INSERT INTO former_channels (id, hub, platform, ending) VALUES (?1, ?2, ?3, ?4)")
        try former.bind(hub.rawValue, at: 2)
        let channelDeletion = try statements.take("DELETE FROM channels WHERE id = ?")
        for (channel, platform) in channels {
            try device.bind(channel, at: 1)
            defer { device.reset() }
            guard try device.step() else { continue }
            try reading.bind(channel, at: 1)
            var removed: [Removed] = []
            while try reading.step() {
                try installation.bind(reading, column: 3, at: 1)
                let isOfInstallation = !reading.isNull(3)
                let hasInstallation = isOfInstallation ? try installation.step() : false
                // The history keeps the state before the removal. The history row takes over the registration's
                // references to rows of `contents`, so the use counts of these rows do not change.
                for (column, index) in Self.kept { try history.bind(reading, column: column, at: index) }
                try history.bind(hasInstallation ? installation : nil, column: 0, at: 7)
                try history.bind(device, column: 0, at: 8)
                try history.bind(device, column: 1, at: 9)
                try history.run(channel)
                installation.reset()
                if isOfInstallation {
                    try slots.bind(reading, column: 8, at: 2)
                    try slots.run(reading.integer(3))
                } else {
                    try tombstones.bind(reading, column: 4, at: 3)
                    try tombstones.run(hub.rawValue)
                }
                removed.append(
                    Removed(
                        sequence: reading.integer(0),
                        names: StoredRegistration.names(of: try StoredRegistration.tags(reading.text(1))),
                        isOfTemplate: !reading.isNull(2)))
            }
            reading.reset()
            guard !removed.isEmpty else { continue }
            for registration in removed {
                try collectMemberships(of: registration, on: channel, platform)
                try deletion.run(registration.sequence)
            }
            try former.bind(device, column: 0, at: 3)
            try former.bind(device, column: 2, at: 4)
            try former.run(channel)
            device.reset()
            try channelDeletion.run(channel)
        }
    }

    /// The columns of `reading` that the history keeps, each with the index of its parameter in `history`: sequence,
    /// id, tags, template, variables, expiry and creation.
    private static let kept: [(column: Int32, index: Int32)] = [
        (0, 5), (4, 6), (1, 10), (2, 11), (5, 12), (6, 13), (7, 14),
    ]

    private mutating func collectMemberships(
        of registration: Removed, on channel: Int64, _ platform: PlatformID
    ) throws(StorageError) {
        let scope = TagScope(hub: hub, platform: platform, kind: registration.isOfTemplate ? .template : .native)
        for name in registration.names {
            let key = TagName(scope: scope, name: name)
            let known = tagIDs[key]
            let found: Int64? = if let known { known } else { try tags.id(of: name, in: scope) }
            guard let id = found else { continue }
            if known == nil { tagIDs[key] = id }
            memberships.append(TagMember(tag: id, channel: channel, registration: registration.sequence))
        }
    }

    private mutating func removeMemberships(_ statements: inout BorrowedStatements) throws(StorageError) {
        let deletion = try statements.take(
            "DELETE FROM tag_members WHERE tag = ? AND channel = ? AND registration = ?")
        memberships.sort()
        for member in memberships {
            try deletion.bind(member.channel, at: 2)
            try deletion.bind(member.registration, at: 3)
            try deletion.run(member.tag)
        }
    }

    private func removeUnusedTags() throws(StorageError) {
        for key in tagIDs.keys { try tags.removeIfUnused(key.name, in: key.scope) }
    }
}

extension Statement {
    /// Runs the statement to completion, with one value as its first parameter.
    fileprivate func run(_ value: Int64) throws(StorageError) {
        try bind(value, at: 1)
        while try step() {}
        reset()
    }

    /// Returns true if a column of the statement's current row contains exactly this text.
    fileprivate func isText(_ text: String, _ column: Int32) -> Bool {
        withBytes(column) { bytes in bytes.elementsEqual(text.utf8) }
    }
}
