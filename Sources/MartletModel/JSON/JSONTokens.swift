/// The tokens of a text that is known to be valid JSON, with their places in it; for those who need what the tree of
/// `JSON` leaves out. In text that is not JSON the tokens mean nothing, but reading them ends.
struct JSONTokens: IteratorProtocol {
    enum Token: Hashable {
        /// With its quotes.
        case string(Range<Int>)
        /// A number, `true`, `false` or `null`.
        case word(Range<Int>)
        /// One of `{}[]:,`
        case punctuation(UInt8)
    }

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        while place < bytes.count, bytes[place].isXMLSpace { place += 1 }
        guard place < bytes.count else { return nil }
        let start = place
        place += 1
        if bytes[start] == UInt8(ascii: "\"") {
            skipString()
            return .string(start..<place)
        }
        if Self.isPunctuation(bytes[start]) { return .punctuation(bytes[start]) }
        while place < bytes.count, !bytes[place].isXMLSpace, !Self.isPunctuation(bytes[place]) { place += 1 }
        return .word(start..<place)
    }

    private mutating func skipString() {
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place = min(place + 1, bytes.count)
    }

    /// What a string token says.
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
