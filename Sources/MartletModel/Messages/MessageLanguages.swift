/// The languages of a message, and the choice of one of them for a device.
///
/// A device states its language by a tag such as `lang:de-AT`. The device gets the message in that language, otherwise
/// in a more general one (`de`), otherwise in the message's own language (RFC 4647, section 3.4). If a device has
/// several such tags, they are tried in alphabetical order. The first tag that leads to a language of the message is
/// used.
public struct MessageLanguages: Hashable, Sendable {
    /// The prefix of a device's language tag, in lower case.
    public static let tagPrefix = "lang:"

    /// The languages of the message. Its own language is the first. A message without texts by language has only its
    /// own language. Empty if the message does not state a language.
    public let tags: [LanguageTag]
    private let indices: [String: Int]

    init(own: LanguageTag?, others: Set<LanguageTag>) {
        tags = (own.map { [$0] } ?? []) + others.filter { $0 != own }.sorted()
        indices = Dictionary(tags.enumerated().map { ($0.element.folded, $0.offset) }) { first, _ in first }
    }

    /// The number of language versions of the message, at least 1.
    public var count: Int { max(tags.count, 1) }

    /// Returns the index in `tags` of the language that a device with a tag gets; nil if the tag is not a language tag,
    /// or if the message does not have that language.
    /// - Parameter tag: The device's tag in lower case, such as `lang:de`.
    public func index(ofTag tag: String) -> Int? {
        guard tag.hasPrefix(Self.tagPrefix), let wanted = LanguageTag(tag.dropFirst(Self.tagPrefix.count)) else {
            return nil
        }
        return wanted.lookups.lazy.compactMap { indices[$0] }.first
    }

    /// Returns the index in `tags` of the language for a device with the given tags; 0 is the message's own language.
    public func index(forDeviceWith tags: some Sequence<Tag>) -> Int {
        guard count > 1 else { return 0 }
        let found = tags.compactMap { tag in index(ofTag: tag.folded).map { (tag.folded, $0) } }
        return found.min { $0.0 < $1.0 }?.1 ?? 0
    }
}
