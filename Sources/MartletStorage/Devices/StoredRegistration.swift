import MartletCore
import MartletModel

/// A registration with the numbers that only storage knows.
struct StoredRegistration {
    var place: TagPlace
    var registration: Registration

    var sequence: Int64 { place.registration }

    func isExpired(at now: Timestamp) -> Bool {
        registration.expiresAt.map { $0 <= now } ?? false
    }

    /// The names under which it stands in `tag_members`.
    static func names(of tags: [Tag]) -> Set<String> {
        Set(tags.map(\.folded)).union([TagTable.everyone])
    }

    /// To be followed by conditions on `r` (the registration) and `c` (its channel).
    static let selection = "\(columns) FROM registrations r JOIN channels c ON c.id = r.channel"

    /// The same, found by way of the channel.
    static let selectionByChannel = "\(columns) FROM channels c CROSS JOIN registrations r ON r.channel = c.id"

    private static let columns = """
        SELECT r.sequence, r.hub, r.id, r.channel, r.version, r.tags, r.created_at, r.updated_at, r.expires_at,
            c.platform, ifnull(c.handle, c.key)
        """

    init(_ row: Statement) throws(StorageError) {
        let platform = PlatformID(rawValue: row.text(9))
        place = TagPlace(
            hub: Hub.ID(rawValue: row.integer(1)), platform: platform, channel: ChannelID(rawValue: row.integer(3)),
            registration: row.integer(0))
        registration = Registration(
            id: row.text(2), platform: platform, handle: PushHandle(text: StoredHandle(row, 10).text),
            tags: try Self.tags(row.text(5)), version: row.integer(4), expiresAt: row.optionalTimestamp(8),
            createdAt: row.timestamp(6), updatedAt: row.timestamp(7))
    }

    /// Tags as spelled; none can have a comma.
    static func text(_ tags: [Tag]) -> String {
        tags.map(\.spelling).joined(separator: ",")
    }

    private static func tags(_ text: String) throws(StorageError) -> [Tag] {
        var tags: [Tag] = []
        for part in text.split(separator: ",") {
            do throws(TagError) {
                tags.append(try Tag(part))
            } catch {
                throw StorageError(.corrupt, "A stored registration has a tag that is none; restore a backup.")
            }
        }
        return tags
    }
}
