/// A service's own word for what went wrong, as far as it is fit to be shown: what an answer holds beside it could be
/// anything, a secret that was sent included.
enum AnswerWord {
    /// nil for anything but letters, digits, `-` and `_`, at most 64.
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
