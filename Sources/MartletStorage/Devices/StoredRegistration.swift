import MartletCore
import MartletModel

/// A registration with the numbers that are used only inside storage, such as its sequence number.
struct StoredRegistration {
    var index: TagMembership
    var registration: Registration
    /// The ids in `contents` of the registration's template and push variables; nil for none.
    var template: Int64?
    var variables: Int64?
    /// The installation to which the registration belongs, and its slot (`InstallationSlot`) there; nil if it belongs
    /// to none.
    var row: InstallationReference?

    var sequence: Int64 { index.registration }

    func isExpired(at now: Timestamp) -> Bool {
        registration.expiresAt.map { $0 <= now } ?? false
    }

    /// Returns the names of the tags in `tag_members` under which the registration is listed: its own tags, and the
    /// name for all registrations.
    static func names(of tags: [Tag]) -> Set<String> {
        Set(tags.map(\.folded)).union([TagTable.everyone])
    }
}

/// The installation to which a registration belongs, and the slot (`InstallationSlot`) that identifies the registration
/// there.
struct InstallationReference {
    /// The sequence number of the installation.
    var installation: Int64
    /// The id of the installation.
    var id: String
    var slot: String
}

// MARK: The row

extension StoredRegistration {
    /// The query that reads registrations. Callers append conditions on `r` (the registration) and `c` (its channel).
    static let selection = "\(columns) FROM registrations r JOIN channels c ON c.id = r.channel \(parts)"

    /// Like `selection`, but SQLite finds the channels first and then their registrations.
    static let selectionByChannel = "\(columns) FROM channels c CROSS JOIN registrations r ON r.channel = c.id \(parts)"

    private static let columns = """
        SELECT r.sequence, r.hub, r.id, r.channel, r.version, r.tags, r.created_at, r.updated_at, r.expires_at,
            c.platform, ifnull(c.handle, c.key), r.template, t.content, r.variables, v.content, r.secondary_tile,
            r.installation, i.id, r.slot
        """

    private static let parts = """
        LEFT JOIN contents t ON t.id = r.template LEFT JOIN contents v ON v.id = r.variables
        LEFT JOIN installations i ON i.sequence = r.installation
        """

    init(_ row: Statement) throws(StorageError) {
        template = row.optionalInteger(11)
        variables = row.optionalInteger(13)
        if let installation = row.optionalInteger(16) {
            self.row = InstallationReference(installation: installation, id: row.text(17), slot: row.text(18))
        }
        let platform = PlatformID(rawValue: row.text(9))
        let hub = Hub.ID(rawValue: row.integer(1))
        index = TagMembership(
            scope: TagScope(hub: hub, platform: platform, kind: template == nil ? .native : .template),
            channel: ChannelID(rawValue: row.integer(3)), registration: row.integer(0))
        registration = Registration(
            id: StoredID(row, 2).text, platform: platform, handle: PushHandle(text: StoredHandle(row, 10).text),
            tags: try Self.tags(row.text(5)),
            template: template == nil ? nil : try StoredContent.template(row.bytes(12)),
            pushVariables: variables == nil ? [:] : try StoredContent.variables(row.bytes(14)),
            secondaryTile: row.optionalText(15), installation: self.row?.id, version: row.integer(4),
            expiresAt: row.optionalTimestamp(8), createdAt: row.timestamp(6), updatedAt: row.timestamp(7))
    }

    /// Joins tags as they are spelled, separated by commas; no tag can contain a comma.
    static func text(_ tags: [Tag]) -> String {
        tags.map(\.spelling).joined(separator: ",")
    }

    static func tags(_ text: String) throws(StorageError) -> [Tag] {
        var tags: [Tag] = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            do throws(TagError) {
                tags.append(try Tag(Substring(part)))
            } catch {
                throw StorageError(.corrupt, "A stored registration has a tag that is none; restore a backup.")
            }
        }
        return tags
    }
}
