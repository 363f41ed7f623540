/// Operations on the UTF-8 bytes of a property's value. The expressions `$(…)`, `.(…)`, `%(…)` and `#(…)` use them to
/// shorten, encode or check the value.
extension [UInt8] {
    /// Returns the first `count` characters, or the whole text if it has fewer characters. A character is an extended
    /// grapheme cluster.
    func prefix(characters count: Int) -> ArraySlice<UInt8> {
        guard count < self.count else { return self[...] }
        // Each ASCII character except CR is one grapheme cluster, unless a non-ASCII character follows it.
        let isPlain = self[...count].allSatisfy { $0 < 0x80 && $0 != 0x0D }
        guard !isPlain else { return self[..<count] }
        let text = String(decoding: self, as: UTF8.self)
        guard let end = text.index(text.startIndex, offsetBy: count, limitedBy: text.endIndex) else { return self[...] }
        return self[..<text.utf8.distance(from: text.startIndex, to: end)]
    }

    /// The text with all bytes percent-encoded except the unreserved characters (RFC 3986, section 2.3).
    var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(count)
        for byte in self {
            if TemplateProperties.isNameByte(byte) || "-.~".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return encoded
    }

    /// True if `#` accepts the text as a number: a number of RFC 8259 without a sign (NotificationHubs.md, section 11).
    var isJSONNumber: Bool {
        var rest = self[...]
        if rest.first == UInt8(ascii: "0") { rest.removeFirst() } else if !rest.dropDigits() { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard rest.dropDigits() else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard rest.dropDigits() else { return false }
        }
        return rest.isEmpty
    }
}

extension ArraySlice<UInt8> {
    /// Removes the leading digits. Returns false if there are none.
    fileprivate mutating func dropDigits() -> Bool {
        let rest = drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        defer { self = rest }
        return rest.startIndex > startIndex
    }
}
