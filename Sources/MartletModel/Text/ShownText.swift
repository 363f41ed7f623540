/// The rule that decides whether a text may be shown on devices.
public enum ShownText {
    /// Returns true if a text has no control characters other than tabs and line breaks, and neither U+FFFE nor U+FFFF,
    /// which XML cannot express.
    ///
    /// Marks for the direction of text are allowed, because scripts that are written from right to left need them. Such
    /// marks cannot move the words before the text, such as the sender's name.
    public static func isAllowed(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x9, 0xA, 0xD: true
            case ..<0x20, 0x7F...0x9F, 0xFFFE, 0xFFFF: false
            default: true
            }
        }
    }
}
