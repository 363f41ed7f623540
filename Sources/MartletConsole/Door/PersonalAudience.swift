/// Distinguishes sends to single persons or devices from sends to many devices.
public enum PersonalAudience {
    /// The prefixes of tags that name a person or a device. A tag that contains such a prefix anywhere counts, too.
    private static let beginnings = ["username:", "$userid:", "$installationid:", "$registrationid:"]
    /// The prefix of the tags `from:NAME`. The app backend gives this tag to a user's devices if users see their own
    /// messages. The prefix counts only at the beginning of a tag, because other tags may contain it, such as
    /// `valid-from:`.
    private static let sender = "from:"
    /// The characters that can stand next to a tag in an expression, or in a sentence that quotes the tag.
    private static let separators = "()&|! '\"“”,"

    /// Returns whether a tag expression, or a single tag, names a person or a device.
    ///
    /// One such tag in the expression is enough, even if the expression also matches other devices.
    public static func isNamed(in expression: String) -> Bool {
        let text = expression.lowercased()
        return beginnings.contains { text.contains($0) }
            || text.split(whereSeparator: { separators.contains($0) }).contains { $0.hasPrefix(sender) }
    }

    /// Returns a text that sorts after all tags with the same personal prefix as a tag; nil if the tag names nobody.
    /// The search for tags continues after this text.
    ///
    /// The text contains the tag only up to the end of its personal prefix, so it reveals no person.
    /// - Parameter tag: The name of a single tag, in lower case.
    public static func end(of tag: String) -> String? {
        if tag.hasPrefix(sender) { return sender + last }
        return beginnings.compactMap { tag.firstRange(of: $0)?.upperBound }.min().map { tag[..<$0] + last }
    }

    /// A text that sorts after every name.
    private static let last = "\u{10FFFF}"
}
