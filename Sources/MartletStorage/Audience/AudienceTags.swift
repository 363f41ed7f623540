import MartletCore
import MartletModel

/// Reads the tags of the devices that an audience query finds, on one connection.
struct AudienceTags {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func page(beginningWith prefix: String, of query: AudienceQuery) throws(StorageError) -> TagPage {
        let audience = try AudienceReader(connection).page(query)
        let prefix = prefix.lowercased()
        var found: Set<String> = []
        var last = ChannelID.none
        for member in audience.members where member.channel != last {
            last = member.channel
            for text in try texts(of: last, at: query.now) { collect(text, prefix, into: &found) }
        }
        return TagPage(tags: try Self.tags(found), next: audience.isLast ? nil : audience.members.last)
    }

    /// Returns the tags of each registration of a channel, in their stored format.
    private func texts(of channel: ChannelID, at now: Timestamp) throws(StorageError) -> [String] {
        try connection.all(
            "SELECT tags FROM registrations WHERE channel = ? AND (expires_at IS NULL OR expires_at > ?)",
            channel.rawValue, now
        ) { $0.text(0) }
    }

    private func collect(_ text: String, _ prefix: String, into found: inout Set<String>) {
        for part in text.split(separator: ",") {
            let folded = part.lowercased()
            if folded.hasPrefix(prefix) { found.insert(folded) }
        }
    }

    private static func tags(_ texts: Set<String>) throws(StorageError) -> Set<Tag> {
        var tags: Set<Tag> = []
        for text in texts { tags.formUnion(try StoredRegistration.tags(text)) }
        return tags
    }
}
