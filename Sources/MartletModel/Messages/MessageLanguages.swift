/// The languages of a message, and which of them a device gets.
///
/// A device says its language by a tag such as `lang:de-AT`. It gets the message in that language, or else in a more
/// general one (`de`), or else in the message's own (RFC 4647, section 3.4). Of several such tags of a device the first
/// by name counts for which the message has a text.
public struct MessageLanguages: Hashable, Sendable {
    /// What the tags of devices begin with, in lower case.
    public static let tagPrefix = "lang:"

    /// The message's own language first, which is the only one of a message that has no texts by language. Empty if
    /// the message says none.
    public let tags: [LanguageTag]
    private let indices: [String: Int]

    init(own: LanguageTag?, others: Set<LanguageTag>) {
        tags = (own.map { [$0] } ?? []) + others.filter { $0 != own }.sorted()
        indices = Dictionary(tags.enumerated().map { ($0.element.folded, $0.offset) }) { first, _ in first }
    }

    /// The number of versions of the message.
    public var count: Int { max(tags.count, 1) }

    /// The index of the language that a tag of a device leads to; nil for any other tag, and if the message has no
    /// such language.
    /// - Parameter tag: In lower case.
    public func index(ofTag tag: String) -> Int? {
        guard tag.hasPrefix(Self.tagPrefix), let wanted = LanguageTag(tag.dropFirst(Self.tagPrefix.count)) else {
            return nil
        }
        return wanted.lookups.lazy.compactMap { indices[$0] }.first
    }

    /// The index of the language for a device with these tags; 0 is the message's own.
    public func index(forDeviceWith tags: some Sequence<Tag>) -> Int {
        guard count > 1 else { return 0 }
        let found = tags.compactMap { tag in index(ofTag: tag.folded).map { (tag.folded, $0) } }
        return found.min { $0.0 < $1.0 }?.1 ?? 0
    }
}
