/// As much of XML as a payload's kind is told by.
enum XMLText {
    /// The local name of a document's root element: what stands behind the byte order mark, the declaration, comments
    /// and white space. nil where that is no element.
    static func rootName(of document: some Collection<UInt8>) -> String? {
        var rest = Array(document)[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { isSpace($0) }
            if rest.starts(with: Array("<?".utf8)) {
                guard let behind = behind("?>", in: rest) else { return nil }
                rest = behind
            } else if rest.starts(with: Array("<!--".utf8)) {
                guard let behind = behind("-->", in: rest) else { return nil }
                rest = behind
            } else {
                break
            }
        }
        guard rest.first == UInt8(ascii: "<") else { return nil }
        let name = rest.dropFirst().prefix { !isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        let local = name.split(separator: UInt8(ascii: ":")).last ?? []
        return local.isEmpty ? nil : String(decoding: local, as: UTF8.self)
    }

    /// A text as the content of an element. What XML 1.0 has no way to write is left out.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func behind(_ end: StaticString, in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let wanted = end.withUTF8Buffer { Array($0) }
        var rest = text
        while rest.count >= wanted.count {
            if rest.starts(with: wanted) { return rest.dropFirst(wanted.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x9...0xD).contains(byte) }
}
