/// Random numbers that are the same in every run (splitmix64), so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

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
