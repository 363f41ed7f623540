/// The tokens of a valid JSON text, with their offsets. The `JSON` tree contains no offsets. The tokens of an invalid
/// text have no meaning, but the iteration still ends.
struct JSONTokens: IteratorProtocol {
    enum Token: Hashable {
        /// The range of a string, including its quotes.
        case string(Range<Int>)
        /// A number, `true`, `false` or `null`.
        case word(Range<Int>)
        /// One of the characters `{}[]:,`.
        case punctuation(UInt8)
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        while index < bytes.count, bytes[index].isXMLSpace { index += 1 }
        guard index < bytes.count else { return nil }
        let start = index
        index += 1
        if bytes[start] == UInt8(ascii: "\"") {
            skipString()
            return .string(start..<index)
        }
        if Self.isPunctuation(bytes[start]) { return .punctuation(bytes[start]) }
        while index < bytes.count, !bytes[index].isXMLSpace, !Self.isPunctuation(bytes[index]) { index += 1 }
        return .word(start..<index)
    }

    private mutating func skipString() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index + 1, bytes.count)
    }

    /// Returns the decoded text of a string token.
    static func text(of token: ArraySlice<UInt8>) -> String {
        guard token.contains(UInt8(ascii: "\\")) else {
            return String(decoding: token.dropFirst().dropLast(), as: UTF8.self)
        }
        return (try? JSON(parsing: Array(token)))?.string ?? ""
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"),
            UInt8(ascii: ","):
            true
        default: false
        }
    }
}
