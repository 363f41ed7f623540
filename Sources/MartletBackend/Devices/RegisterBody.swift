import MartletCore
import MartletHTTP
import MartletModel

/// The body of a request in which a device registers:
/// `{"Platform": "…", "Handle": "…", "Tags": ["…"], "Language": "…", "PublicKey": "…", "AuthSecret": "…"}`.
struct RegisterBody: Sendable {
    let platform: String
    /// The handle in text form, as the app got it from its push service.
    let handle: String
    let tags: [Tag]
    /// The device's key, with which senders encrypt messages for the device; nil if the device cannot decrypt.
    let key: DeviceKey?

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
        if let language = try Self.language(body), !tags.contains(language) { tags.append(language) }
        self.tags = tags
        key = try Self.key(body)
    }

    private static func key(_ body: RequestBody) throws(BackendError) -> DeviceKey? {
        switch (try body.optionalString("PublicKey"), try body.optionalString("AuthSecret")) {
        case (nil, nil): return nil
        case (let publicKey?, let authSecret?): return try DeviceKey(publicKey: publicKey, authSecret: authSecret)
        default: throw .badKey("PublicKey and AuthSecret belong together: send both or neither.")
        }
    }

    /// Returns the tag that states the device's language; nil if the body states no language.
    private static func language(_ body: RequestBody) throws(BackendError) -> Tag? {
        guard let text = try body.optionalString("Language") else { return nil }
        guard let language = LanguageTag(text), let tag = try? Tag(MessageLanguages.tagPrefix + language.spelling)
        else {
            throw .badTag("Language must be a language tag such as de or pt-BR.")
        }
        return tag
    }

    private static func tag(_ text: String) throws(BackendError) -> Tag {
        let tag: Tag
        do throws(TagError) {
            tag = try Tag(text)
        } catch {
            throw .badTag(error.description)
        }
        if let prefix = (UserName.tagPrefixes + [GroupName.prefix]).first(where: tag.folded.hasPrefix) {
            throw .badTag("Tags that begin with '\(prefix)' are the server's to give.")
        }
        guard tag.folded.first != "$" else { throw .badTag("Tags that begin with '$' are the server's to give.") }
        return tag
    }
}
