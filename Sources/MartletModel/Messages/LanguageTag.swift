/// A language tag (BCP 47), such as `de` or `de-AT`. Tags that differ only in case are the same tag.
public struct LanguageTag: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The tag as it was written.
    public let spelling: String
    /// The tag in lower case, for comparisons.
    public let folded: String

    /// The maximum length of a tag in bytes (BCP 47, section 4.4.1).
    public static let lengthLimit = 35

    /// Parses a tag; nil if the text is empty, is longer than `lengthLimit`, or does not consist of subtags of 1 to 8
    /// letters and digits, separated by hyphens. The first subtag has only letters.
    public init?(_ text: some StringProtocol) {
        guard (1...Self.lengthLimit).contains(text.utf8.count) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(Self.isLetterOrDigit) }),
            parts[0].allSatisfy({ $0 > UInt8(ascii: "9") })
        else { return nil }
        spelling = String(text)
        folded = spelling.lowercased()
    }

    /// The tags to look up, in lower case, from this tag to the most general one: `de-at`, `de`. As in RFC 4647,
    /// section 3.4, tags of several subtags that end in a single-character subtag are left out, because such a subtag
    /// only introduces the next one.
    public var lookups: [String] {
        var found: [String] = []
        var parts = folded.split(separator: "-")
        while !parts.isEmpty {
            if parts.count == 1 || (parts.last?.utf8.count ?? 0) > 1 { found.append(parts.joined(separator: "-")) }
            parts.removeLast()
        }
        return found
    }

    public var description: String { spelling }

    public static func == (left: LanguageTag, right: LanguageTag) -> Bool { left.folded == right.folded }
    public static func < (left: LanguageTag, right: LanguageTag) -> Bool { left.folded < right.folded }
    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
