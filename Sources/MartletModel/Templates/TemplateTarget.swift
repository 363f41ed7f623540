/// The position of a value in a template, which determines how the value is escaped.
enum TemplateTarget: Hashable, Sendable {
    /// Between the quotes of a JSON string.
    case jsonString
    /// Between the single or double quotes of an XML attribute.
    case xmlAttribute
    case xmlText
    /// Between `<![CDATA[` and `]]>`.
    case xmlCharacterData
    /// In a raw body, header or option, where nothing is escaped.
    case plain

    /// Appends a text. The text is escaped so that a parser reads exactly this text at this position.
    ///
    /// Characters that XML does not allow, mainly control characters, are replaced with U+FFFD.
    func append(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
        guard self != .plain else {
            output += text
            return
        }
        var start = text.startIndex
        for index in text.indices {
            guard let replacement = replacement(at: index, of: text, after: output, from: start) else { continue }
            output += text[start..<index]
            output += replacement.bytes
            start = index + replacement.length
        }
        output += text[start...]
    }

    /// Returns the replacement for the text at an offset, and the number of bytes that it replaces; nil if the byte at
    /// the offset needs no escape.
    private func replacement(
        at index: Int, of text: ArraySlice<UInt8>, after output: [UInt8], from start: Int
    ) -> (bytes: [UInt8], length: Int)? {
        let byte = text[index]
        // A fast path, because most bytes need no escape.
        guard byte < 0x40 || byte == UInt8(ascii: "\\") || byte == 0xEF else { return nil }
        switch self {
        case .jsonString: return Self.jsonEscape(byte).map { ($0, 1) }
        case .plain: return nil
        case .xmlAttribute, .xmlText, .xmlCharacterData:
            if let length = Self.lengthOfNoCharacter(at: index, of: text) { return ([0xEF, 0xBF, 0xBD], length) }
            guard self == .xmlCharacterData else { return entity(byte).map { ($0, 1) } }
            // The two bytes before this byte decide whether this byte ends the section. Those two bytes are at the end
            // of the text that has not been copied yet, or at the end of the output.
            let pending = text[start..<index].suffix(2)
            let isAfterBrackets = (output.suffix(2 - pending.count) + pending).elementsEqual("]]".utf8)
            return Self.sectionEnd(byte, isAfterBrackets: isAfterBrackets).map { ($0, 1) }
        }
    }

    private static func jsonEscape(_ byte: UInt8) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "\n"): Array("\\n".utf8)
        case UInt8(ascii: "\r"): Array("\\r".utf8)
        case UInt8(ascii: "\t"): Array("\\t".utf8)
        case ..<0x20: Array(((byte < 16 ? "\\u000" : "\\u00") + String(byte, radix: 16)).utf8)
        default: nil
        }
    }

    /// Returns the length of the character at an offset if XML 1.0 does not allow it; nil if the character is allowed.
    private static func lengthOfNoCharacter(at index: Int, of text: ArraySlice<UInt8>) -> Int? {
        if text[index] < 0x20 { return text[index].isXMLSpace ? nil : 1 }
        guard text[index] == 0xEF, index + 2 < text.endIndex, text[index + 1] == 0xBF else { return nil }
        return text[index + 2] >= 0xBE ? 3 : nil
    }

    /// Returns the reference that replaces a byte; nil if the byte needs none. Line ends and tabs are escaped so that
    /// they survive the normalisation of line ends and attributes.
    private func entity(_ byte: UInt8) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "&"): Array("&amp;".utf8)
        case UInt8(ascii: "<"): Array("&lt;".utf8)
        case UInt8(ascii: ">"): Array("&gt;".utf8)
        case UInt8(ascii: "\r"): Array("&#13;".utf8)
        case UInt8(ascii: "\""): self == .xmlAttribute ? Array("&quot;".utf8) : nil
        case UInt8(ascii: "'"): self == .xmlAttribute ? Array("&apos;".utf8) : nil
        case UInt8(ascii: "\n"): self == .xmlAttribute ? Array("&#10;".utf8) : nil
        case UInt8(ascii: "\t"): self == .xmlAttribute ? Array("&#9;".utf8) : nil
        default: nil
        }
    }

    /// Returns the replacement for a byte that a CDATA section cannot contain; nil if it can contain the byte. Nothing
    /// can be escaped within a section, so the replacement closes the section and opens a new one.
    private static func sectionEnd(_ byte: UInt8, isAfterBrackets: Bool) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\r"): Array("]]>&#13;<![CDATA[".utf8)
        case UInt8(ascii: ">"): isAfterBrackets ? Array("]]><![CDATA[>".utf8) : nil
        default: nil
        }
    }
}
