/// Distinguishes sends to single persons or devices from sends to many devices.
public enum PersonalAudience {
    /// The beginnings of tags that name a person or a device. They count anywhere in a tag.
    private static let beginnings = ["username:", "$userid:", "$installationid:", "$registrationid:"]
    /// The beginning of the tags that the app backend gives to the devices of a user who sees the own messages. It counts
    /// only where a tag begins, because it also ends ordinary words, as in `valid-from:`.
    private static let sender = "from:"
    /// What stands around a tag in an expression, or in a sentence that quotes it.
    private static let separators = "()&|! '\"“”,"

    /// Returns whether a tag expression, or a single tag, names a person or a device.
    ///
    /// One such tag in the expression is enough, even if the expression also matches other devices.
    public static func isNamed(in expression: String) -> Bool {
        let text = expression.lowercased()
        return beginnings.contains { text.contains($0) }
            || text.split(whereSeparator: { separators.contains($0) }).contains { $0.hasPrefix(sender) }
    }

    /// Returns a name that sorts after all tags that name persons or devices in the same way as a tag; nil if the tag
    /// names nobody.
    ///
    /// The name has nothing of the tag behind the beginning that makes it personal, so it reveals no person.
    /// - Parameter tag: The name of a single tag, in lower case.
    public static func end(of tag: String) -> String? {
        if tag.hasPrefix(sender) { return sender + last }
        return beginnings.compactMap { tag.firstRange(of: $0)?.upperBound }.min().map { tag[..<$0] + last }
    }

    /// A text that sorts after every name.
    private static let last = "\u{10FFFF}"
}
