import MartletCore
import MartletModel

/// Tags of a hub and platform with their members, on one connection.
struct TagTable {
    private let connection: Connection

    /// Stands for all registrations of a platform; no tag can have this name.
    static let everyone = "*"

    init(_ connection: Connection) {
        self.connection = connection
    }

    func id(of name: String, hub: Hub.ID, platform: PlatformID) throws(StorageError) -> Int64? {
        try connection.first(
            "SELECT id FROM tags WHERE hub = ? AND platform = ? AND name = ?", hub.rawValue, platform.rawValue, name
        ) { $0.integer(0) }
    }

    /// The highest channel of the platform; `.none` where it has none.
    func lastChannel(hub: Hub.ID, platform: PlatformID) throws(StorageError) -> ChannelID {
        guard let tag = try id(of: Self.everyone, hub: hub, platform: platform) else { return .none }
        let last = try connection.first(
            "SELECT channel FROM tag_members WHERE tag = ? ORDER BY channel DESC LIMIT 1", tag
        ) { ChannelID(rawValue: $0.integer(0)) }
        return last ?? .none
    }

    func insert(_ place: TagPlace, names: some Sequence<String>) throws(StorageError) {
        for name in names {
            try connection.run(
                "INSERT INTO tag_members (tag, channel, registration) VALUES (?, ?, ?)",
                try idMadeIfMissing(name, place),
                place.channel.rawValue, place.registration)
        }
    }

    /// A tag that nobody carries any more is forgotten.
    func remove(_ place: TagPlace, names: some Sequence<String>) throws(StorageError) {
        for name in names {
            guard let tag = try id(of: name, hub: place.hub, platform: place.platform) else { continue }
            try connection.run(
                "DELETE FROM tag_members WHERE tag = ? AND channel = ? AND registration = ?", tag,
                place.channel.rawValue, place.registration)
            try connection.run(
                """
                DELETE FROM tags WHERE hub = ? AND platform = ? AND name = ?
                    AND NOT EXISTS (SELECT 1 FROM tag_members WHERE tag = ?)
                """, place.hub.rawValue, place.platform.rawValue, name, tag)
        }
    }

    private func idMadeIfMissing(_ name: String, _ place: TagPlace) throws(StorageError) -> Int64 {
        if let id = try id(of: name, hub: place.hub, platform: place.platform) { return id }
        try connection.run("UPDATE tag_counter SET last = last + 1")
        let id = try connection.first("SELECT last FROM tag_counter") { $0.integer(0) } ?? 0
        try connection.run(
            "INSERT INTO tags (hub, platform, name, id) VALUES (?, ?, ?, ?)", place.hub.rawValue,
            place.platform.rawValue, name, id)
        return id
    }
}

/// Where a registration stands among the members of its tags.
struct TagPlace: Equatable {
    var hub: Hub.ID
    var platform: PlatformID
    var channel: ChannelID
    /// The sequence number of the registration.
    var registration: Int64
}
