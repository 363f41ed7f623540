/// A label of a registration. Notifications are addressed to tags.
///
/// A tag has 1 to 120 of the characters `A-Z a-z 0-9 _ @ # . : -`, or is one of the hub's own forms
/// `$InstallationId:{ID}`, `$UserId:{USER}` (NotificationHubs.md, sections 10.1 and 10.4) and `$RegistrationId:{ID}`.
/// Tags that differ only in case are equal.
public struct Tag: Sendable {
    /// The tag as it was written.
    public let spelling: String
    /// The tag in lower case, which is the form in which tags are compared and stored.
    public let folded: String

    /// Creates a tag from its spelling.
    /// - Throws: `TagError` with the violated rule.
    public init(_ text: some StringProtocol) throws(TagError) {
        let text = String(text)
        guard !text.isEmpty else { throw .empty }
        if let system = SystemTag(text) {
            spelling = system.spelling
        } else {
            guard text.utf8.count <= Tag.lengthLimit else { throw .tooLong }
            guard text.utf8.allSatisfy(Tag.isAllowed) else { throw .badCharacter }
            spelling = text
        }
        folded = spelling.lowercased()
    }

    /// Returns the tag that addresses a single registration.
    /// - Parameter id: The id of the registration.
    /// - Returns: The tag; nil if the id is not valid in an expression, or if it is not in lower case. Tags are
    ///   compared in lower case, so such a tag could equal the tag of another registration.
    public static func registration(_ id: String) -> Tag? {
        guard id == id.lowercased(), !id.utf8.contains(where: { "()&|!".utf8.contains($0) }) else { return nil }
        return try? Tag("$RegistrationId:{\(id)}")
    }

    /// The maximum length of a tag in characters. The hub's own forms, such as `$UserId:{USER}`, may be longer.
    public static let lengthLimit = 120
    /// The maximum number of tags of one registration or installation.
    public static let countLimit = 60

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "#"),
            UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension Tag: Hashable, CustomStringConvertible {
    public static func == (left: Tag, right: Tag) -> Bool { left.folded == right.folded }
    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
    public var description: String { spelling }
}

/// The reason why a text is not a valid tag.
public enum TagError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong
    case badCharacter

    public var description: String {
        switch self {
        case .empty: "A tag must not be empty."
        case .tooLong: "A tag has at most \(Tag.lengthLimit) characters."
        case .badCharacter: "A tag consists of letters, digits and _ @ # . : - only."
        }
    }
}

/// A tag of the form `$InstallationId:{ID}`, `$UserId:{USER}` or `$RegistrationId:{ID}`; the braces are optional in
/// parsed text.
struct SystemTag {
    let spelling: String

    /// The maximum length of the id in the braces, in bytes.
    private static let valueLimit = 256

    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "$") else { return nil }
        for name in ["$InstallationId:", "$UserId:", "$RegistrationId:"] {
            guard text.utf8.count > name.utf8.count, text.prefix(name.count).lowercased() == name.lowercased()
            else { continue }
            var value = text.dropFirst(name.count)
            if value.first == "{" {
                guard value.last == "}" else { return nil }
                value = value.dropFirst().dropLast()
            }
            let isPlain = value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"{},".utf8.contains($0) }
            guard !value.isEmpty, value.utf8.count <= Self.valueLimit, isPlain else { return nil }
            spelling = "\(name){\(value)}"
            return
        }
        return nil
    }
}
