import MartletCore
import MartletModel

/// Finds the language in which each device of an audience gets a message. Devices must be requested in the order of the
/// audience.
///
/// For a large audience, the cursor reads the members of the tags that select a language of the message. If there are
/// few devices, it reads the registrations of each device instead, because that costs less than a cursor for each tag.
/// It does the same if there are too many language tags.
final class LanguageCursor {
    /// A tag that selects a language of the message, with a cursor over the devices that have the tag.
    private struct Speakers {
        let language: Int
        let cursor: MemberCursor
    }

    private let languages: MessageLanguages
    /// The cursors of the language tags, in the order of the tags' names; empty if registrations are read instead.
    private let speakers: [Speakers]
    /// The statement that reads the tags of a channel's registrations; nil if `speakers` are used.
    private let tags: Statement?

    private static let sql = "SELECT tags FROM registrations WHERE channel = ? AND template IS NULL"

    /// The maximum number of a hub's language tags that are examined, and the maximum number of cursors. Devices choose
    /// their tags, and must not be able to make a page cost more than reading the rows of its devices would.
    private static let (tagLimit, cursorLimit) = (256, 64)

    init(
        _ languages: MessageLanguages, in scope: TagScope, isForFew: Bool, _ statements: inout BorrowedStatements
    ) throws(StorageError) {
        self.languages = languages
        let found = isForFew ? nil : try Self.tags(of: languages, in: scope, statements.connection)
        guard let found else {
            speakers = []
            tags = try statements.take(Self.sql)
            return
        }
        var speakers: [Speakers] = []
        for (language, tag) in found {
            let cursor = MemberCursor(try statements.take(MemberCursor.sql), tag: tag)
            speakers.append(Speakers(language: language, cursor: cursor))
        }
        self.speakers = speakers
        tags = nil
    }

    /// Returns the tags that select a language of the message, in the order of their names; nil if there are more than
    /// `tagLimit` language tags, or if more than `cursorLimit` of them select a language of the message.
    private static func tags(
        of languages: MessageLanguages, in scope: TagScope, _ connection: Connection
    ) throws(StorageError) -> [(language: Int, tag: Int64)]? {
        let tags = try TagTable(connection).tags(
            beginningWith: MessageLanguages.tagPrefix, in: scope, limit: tagLimit + 1)
        let found = tags.compactMap { tag in languages.index(ofTag: tag.name).map { (language: $0, tag: tag.id) } }
        return tags.count > tagLimit || found.count > cursorLimit ? nil : found
    }

    /// Returns the language for a device, as an index of the message's languages; 0, the message's own language, if no
    /// tag of the device selects another one.
    /// - Parameter channel: The channel of the device. The channels of successive calls must ascend.
    func language(of channel: Int64) throws(StorageError) -> Int {
        if let tags { return try language(of: channel, tags) }
        let position = AudiencePosition(channel: channel, registration: .min)
        for group in speakers where try group.cursor.seek(position).channel == channel { return group.language }
        return 0
    }

    private func language(of channel: Int64, _ statement: Statement) throws(StorageError) -> Int {
        statement.reset()
        try statement.bind(channel, at: 1)
        var first: (name: String, language: Int)?
        while try statement.step() {
            for name in statement.text(0).split(separator: ",").map({ $0.lowercased() }) {
                guard let language = languages.index(ofTag: name), name < first?.name ?? "~" else { continue }
                first = (name, language)
            }
        }
        return first?.language ?? 0
    }
}
