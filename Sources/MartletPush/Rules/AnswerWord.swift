/// Checks the word with which a push service names an error, before the word is written to logs and reports.
///
/// The rest of an answer is left out of logs and reports, because it could contain anything, even a secret from the
/// request.
enum AnswerWord {
    /// Returns the text if it consists of at most 64 letters, digits, `-` and `_`; otherwise nil.
    static func checked(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count) else { return nil }
        let isWord = text.utf8.allSatisfy { character in
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isWord ? text : nil
    }
}
