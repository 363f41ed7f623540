/// The rule that decides whether a text may be shown on devices.
public enum ShownText {
    /// Returns true if a text has no control characters other than tabs and line breaks, and no noncharacters that XML
    /// cannot express.
    ///
    /// Marks for the direction of text are allowed: scripts that are written from right to left need them, and they
    /// cannot move what stands before the text, such as the name of its sender.
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
