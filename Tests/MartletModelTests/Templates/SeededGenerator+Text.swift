import MartletTesting

extension SeededGenerator {
    /// A text of up to 12 characters, half of them such as escaping has to do with, and others from all of Unicode.
    mutating func text() -> String {
        let special: [Unicode.Scalar] = [
            "\"", "\\", "\n", "\r", "\t", "\u{0}", "\u{1F}", "<", ">", "&", "'", "]", "]", "\u{301}", "\u{200D}",
            "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "🦜", "{", "}", "$", "(",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            if Bool.random(using: &self), let scalar = special.randomElement(using: &self) {
                text.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self)) {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
