import MartletCore
import MartletModel

/// Stores and reads the tags of each hub, platform and kind of registration with their members, on one connection.
struct TagTable {
    let connection: Connection
    let memory: WriteCache?

    /// The name that stands for all registrations of a platform and kind; no tag can have this name.
    static let everyone = "*"

    init(_ connection: Connection, _ memory: WriteCache? = nil) {
        self.connection = connection
        self.memory = memory
    }

    func id(of name: String, in scope: TagScope) throws(StorageError) -> Int64? {
        try connection.first(
            Self.selection, scope.hub.rawValue, name, scope.kind == .template, scope.platform.rawValue
        ) { $0.integer(0) }
    }

    static let selection = "SELECT id FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?"

    func insert(_ index: TagMembership, names: some Sequence<String>) throws(StorageError) {
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let insert = try statements.take("INSERT INTO tag_members (tag, channel, registration) VALUES (?, ?, ?)")
        try insert.bind(index.channel.rawValue, at: 2)
        try insert.bind(index.registration, at: 3)
        for name in names {
            try insert.bind(try idMadeIfMissing(name, index.scope), at: 1)
            _ = try insert.step()
            insert.reset()
        }
    }

    /// Removes a registration from the members of the tags with these names. Then removes each of these tags that has
    /// no members left.
    func remove(_ index: TagMembership, names: some Sequence<String>) throws(StorageError) {
        for name in names {
            let (hub, isTemplate) = (index.scope.hub.rawValue, index.scope.kind == .template)
            try connection.run(
                """
                DELETE FROM tag_members
                WHERE tag = (SELECT id FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?)
                    AND channel = ? AND registration = ?
                """, hub, name, isTemplate, index.scope.platform.rawValue, index.channel.rawValue, index.registration)
            try removeIfUnused(name, in: index.scope)
        }
    }

    /// Removes a tag if it has no members.
    func removeIfUnused(_ name: String, in scope: TagScope) throws(StorageError) {
        try connection.run(
            """
            DELETE FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?
                AND NOT EXISTS (SELECT 1 FROM tag_members WHERE tag = tags.id)
            """, scope.hub.rawValue, name, scope.kind == .template, scope.platform.rawValue)
        memory?.forgetTag(name, in: scope)
    }

    private func idMadeIfMissing(_ name: String, _ scope: TagScope) throws(StorageError) -> Int64 {
        if let id = memory?.tag(name, in: scope) { return id }
        let found = try id(of: name, in: scope)
        let id = if let found { found } else { try make(name, scope) }
        memory?.setTag(name, in: scope, to: id)
        return id
    }

    private func make(_ name: String, _ scope: TagScope) throws(StorageError) -> Int64 {
        let id = try takeNumbers(1)
        try connection.run(
            Self.insertionOfOne, scope.hub.rawValue, name, scope.kind == .template, scope.platform.rawValue, id)
        return id
    }

    static let insertion = "INSERT INTO tags (hub, name, is_template, platform, id)"
    private static let insertionOfOne = "\(insertion) VALUES (?, ?, ?, ?, ?)"

    /// Takes consecutive numbers for new tags.
    /// - Returns: The last of the numbers.
    func takeNumbers(_ count: Int) throws(StorageError) -> Int64 {
        try connection.run("UPDATE tag_counter SET last = last + ?", count)
        guard let last = try connection.first("SELECT last FROM tag_counter", read: { $0.integer(0) }) else {
            throw StorageError(.corrupt, "The counter of tags is missing; restore a backup.")
        }
        return last
    }
}

// MARK: Bounds and lists

extension TagTable {
    /// Returns the highest channel of a platform with a native registration; `.none` if the platform has no such
    /// channel.
    func lastChannel(hub: Hub.ID, platform: PlatformID) throws(StorageError) -> ChannelID {
        let last = try connection.first(
            """
            SELECT channel FROM tag_members
            WHERE tag = (SELECT id FROM tags WHERE hub = ? AND name = ? AND is_template = 0 AND platform = ?)
            ORDER BY channel DESC LIMIT 1
            """, hub.rawValue, Self.everyone, platform.rawValue
        ) { ChannelID(rawValue: $0.integer(0)) }
        return last ?? .none
    }

    /// Returns the sequence number of the hub's registration that was created last; 0 if the hub has no registrations.
    func lastRegistration(hub: Hub.ID) throws(StorageError) -> Int64 {
        try connection.first(
            "SELECT sequence FROM registrations WHERE hub = ? ORDER BY sequence DESC LIMIT 1", hub.rawValue
        ) { $0.integer(0) } ?? 0
    }

    /// Returns the platforms that have registrations in a hub, in the order of their ids.
    func platforms(hub: Hub.ID) throws(StorageError) -> [PlatformID] {
        try connection.all(
            "SELECT DISTINCT platform FROM tags WHERE hub = ? AND name = ? ORDER BY platform", hub.rawValue,
            Self.everyone
        ) { PlatformID(rawValue: $0.text(0)) }
    }

    /// Returns the platforms that have registrations without a template in a hub, in the order of their ids.
    func nativePlatforms(hub: Hub.ID) throws(StorageError) -> [PlatformID] {
        try connection.all(
            "SELECT platform FROM tags WHERE hub = ? AND name = ? AND is_template = 0 ORDER BY platform", hub.rawValue,
            Self.everyone
        ) { PlatformID(rawValue: $0.text(0)) }
    }

    /// Returns the names of tags that begin with a prefix and belong to at least one native registration. The names are
    /// sorted and without duplicates.
    func names(beginningWith prefix: String, hub: Hub.ID, limit: Int) throws(StorageError) -> [String] {
        try connection.all(
            """
            SELECT DISTINCT name FROM tags WHERE hub = ? AND name >= ? AND name < ? AND is_template = 0
            ORDER BY name LIMIT ?
            """, hub.rawValue, prefix, Self.end(of: prefix), limit
        ) { $0.text(0) }
    }

    /// Returns the first tags of a scope whose names begin with a prefix, in the order of their names.
    func tags(
        beginningWith prefix: String, in scope: TagScope, limit: Int
    ) throws(StorageError) -> [(name: String, id: Int64)] {
        try connection.all(
            """
            SELECT name, id FROM tags WHERE hub = ? AND name >= ? AND name < ? AND is_template = ? AND platform = ?
            ORDER BY name LIMIT ?
            """, scope.hub.rawValue, prefix, Self.end(of: prefix), scope.kind == .template, scope.platform.rawValue,
            limit
        ) { ($0.text(0), $0.integer(1)) }
    }

    /// Returns a text that sorts after every name with a prefix. The prefix must end with an ASCII character.
    private static func end(of prefix: String) -> String {
        var bytes = Array(prefix.utf8)
        if let last = bytes.popLast() { bytes.append(last + 1) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the platforms that have registrations with a template in a hub, in the order of their ids.
    func templatePlatforms(hub: Hub.ID) throws(StorageError) -> [PlatformID] {
        try connection.all(
            "SELECT platform FROM tags WHERE hub = ? AND name = ? AND is_template = 1 ORDER BY platform", hub.rawValue,
            Self.everyone
        ) { PlatformID(rawValue: $0.text(0)) }
    }
}

/// The registrations of one kind on one platform of a hub. A tag has a separate id in each scope.
struct TagScope: Hashable {
    var hub: Hub.ID
    var platform: PlatformID
    var kind: AudienceQuery.Kind
}

/// The position of a registration in the member lists of its tags.
struct TagMembership: Equatable {
    var scope: TagScope
    var channel: ChannelID
    /// The sequence number of the registration.
    var registration: Int64
}
