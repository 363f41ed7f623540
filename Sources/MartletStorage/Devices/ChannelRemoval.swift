import MartletCore
import MartletModel

/// Removes channels that a push service called gone, with their registrations, on one connection. Does what
/// `RegistrationTable.remove` does for each registration, for many: statements are prepared once, rows go in the order of
/// their keys from table to table within the database, and tags are looked up once.
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

    /// A registration, as far as its removal depends on it.
    private struct Removed {
        var sequence: Int64
        var names: Set<String>
        var isOfTemplate: Bool
        var isOfInstallation: Bool
    }

    init(_ connection: Connection, in hub: Hub.ID, at now: Timestamp) {
        self.connection = connection
        self.hub = hub
        self.now = now
        tags = TagTable(connection)
    }

    /// Removes channels. Those that were registered again since they were gone are kept.
    /// - Parameter feedback: Only `gone`.
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

    /// Returns the channels that are to be removed, in order, with their platforms.
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
                // Nearly always the same one.
                if platform.map({ finding.isText($0.rawValue, 0) }) != true {
                    platform = PlatformID(rawValue: finding.text(0))
                }
                if let platform { found.append((item.channel.rawValue, platform)) }
            }
            finding.reset()
        }
        return found
    }

    private mutating func removeRegistrations(
        of channels: [(channel: Int64, platform: PlatformID)], _ statements: inout BorrowedStatements
    ) throws(StorageError) {
        let reading = try statements.take(
            "SELECT sequence, tags, template, installation FROM registrations WHERE channel = ?")
        // The state until now. Contents stay in use: by the history instead of by the registration.
        let history = try statements.take(
            """
            INSERT INTO registration_history (hub, sequence, id, installation, platform, channel, handle, tags, template,
                variables, expires_at, created_at, ended_at, cause)
            SELECT r.hub, r.sequence, r.id, (SELECT id FROM installations WHERE sequence = r.installation), c.platform,
                c.id, ifnull(c.handle, c.key), r.tags, r.template, r.variables, r.expires_at, r.created_at, ?2, ?3
            FROM channels c CROSS JOIN registrations r ON r.channel = c.id WHERE c.id = ?1
            """)
        try history.bind(now, at: 2)
        try history.bind(RegistrationEnding.unregistered.rawValue, at: 3)
        let tombstones = try statements.take(
            """
            INSERT INTO tombstones (hub, id, gone_at) SELECT hub, id, ?2 FROM registrations
            WHERE channel = ?1 AND installation IS NULL
            ON CONFLICT (hub, id) DO UPDATE SET gone_at = excluded.gone_at
            """)
        try tombstones.bind(now, at: 2)
        let slots = try statements.take(
            """
            INSERT OR IGNORE INTO dead_slots (installation, slot) SELECT installation, slot FROM registrations
            WHERE channel = ? AND installation IS NOT NULL
            """)
        let deletion = try statements.take("DELETE FROM registrations WHERE sequence = ?")
        let former = try statements.take(ChannelTable.remembering)
        let channelDeletion = try statements.take("DELETE FROM channels WHERE id = ?")
        for (channel, platform) in channels {
            try reading.bind(channel, at: 1)
            var removed: [Removed] = []
            while try reading.step() {
                let names = StoredRegistration.names(of: try StoredRegistration.tags(reading.text(1)))
                removed.append(
                    Removed(
                        sequence: reading.integer(0), names: names, isOfTemplate: !reading.isNull(2),
                        isOfInstallation: !reading.isNull(3)))
            }
            reading.reset()
            guard !removed.isEmpty else { continue }
            try history.run(channel)
            if removed.contains(where: { !$0.isOfInstallation }) { try tombstones.run(channel) }
            if removed.contains(where: \.isOfInstallation) { try slots.run(channel) }
            for registration in removed {
                try collectMemberships(of: registration, on: channel, platform)
                try deletion.run(registration.sequence)
            }
            try former.run(channel)
            try channelDeletion.run(channel)
        }
    }

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

    /// Whether a column has this text.
    fileprivate func isText(_ text: String, _ column: Int32) -> Bool {
        withBytes(column) { bytes in bytes.elementsEqual(text.utf8) }
    }
}
