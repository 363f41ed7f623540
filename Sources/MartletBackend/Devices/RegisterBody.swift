import MartletHTTP
import MartletModel

/// What a device asks for when it registers: `{"Platform": "…", "Handle": "…", "Tags": ["…"]}`.
struct RegisterBody: Sendable {
    let platform: String
    /// The text of the handle.
    let handle: String
    let tags: [Tag]

    init(_ request: HTTPRequest) throws(BackendError) {
        let body = try RequestBody(request)
        platform = try body.string("Platform")
        handle = try body.string("Handle")
        guard !handle.isEmpty, !handle.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw .badHandle("The handle must not be empty and has no control characters.")
        }
        let texts = try body.strings("Tags")
        guard texts.count <= Tag.countLimit else {
            throw .badTag("A device may ask for at most \(Tag.countLimit) tags.")
        }
        var tags: [Tag] = []
        for text in texts { tags.append(try Self.tag(text)) }
        self.tags = tags
    }

    private static func tag(_ text: String) throws(BackendError) -> Tag {
        let tag: Tag
        do throws(TagError) {
            tag = try Tag(text)
        } catch {
            throw .badTag(error.description)
        }
        if let prefix = UserName.tagPrefixes.first(where: tag.folded.hasPrefix) {
            throw .badTag("Tags that begin with '\(prefix)' are the server's to give.")
        }
        guard tag.folded.first != "$" else { throw .badTag("Tags that begin with '$' are the server's to give.") }
        return tag
    }
}
