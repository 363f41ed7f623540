/// A minimal XML reader, which can determine the type of a payload but does not check that the XML is well-formed.
enum XMLText {
    /// Returns the local name of a document's root element, after the byte order mark, the declaration, comments and
    /// white space; nil if there is no element at that position.
    static func rootName(of document: some Collection<UInt8>) -> String? {
        names(of: document, depth: 1).first
    }

    /// Returns at most `depth` local names: the names of the root element, of its first child, of that child's first
    /// child, and so on. The list ends where something other than white space, comments and processing instructions
    /// precedes the next element.
    static func names(of document: some Collection<UInt8>, depth: Int) -> [String] {
        var rest = Array(document)[...]
        if rest.starts(with: byteOrderMark) { rest = rest.dropFirst(byteOrderMark.count) }
        var names: [String] = []
        while names.count < depth, let start = afterMiscellaneous(in: rest), start.first == UInt8(ascii: "<") {
            let tag = start.dropFirst()
            let name = tag.prefix { !isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
            guard let local = name.split(separator: UInt8(ascii: ":")).last else { break }
            names.append(String(decoding: local, as: UTF8.self))
            guard let content = content(ofTag: tag) else { break }
            rest = content
        }
        return names
    }

    /// Removes the XML declaration from a UTF-8 document if the declaration states UTF-16; returns any other document
    /// unchanged. The .NET client of Azure Notification Hubs creates documents with this false declaration, and parsers
    /// refuse them.
    static func withoutFalseDeclaration(_ document: [UInt8]) -> [UInt8] {
        let text = document.starts(with: byteOrderMark) ? document.dropFirst(byteOrderMark.count) : document[...]
        guard text.starts(with: Array("<?xml".utf8)), let rest = after("?>", in: text) else { return document }
        let declaration = String(decoding: text[..<rest.startIndex], as: UTF8.self).lowercased()
        guard let encoding = declaration.split(separator: "encoding").dropFirst().first else { return document }
        let value = encoding.drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
        return value.hasPrefix("utf-16") ? Array(rest.drop { isSpace($0) }) : document
    }

    /// Escapes a text for use as the content of an element. Characters that cannot be written in XML 1.0 are omitted.
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

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the text after white space, processing instructions and comments; nil if one of them is not terminated.
    private static func afterMiscellaneous(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = text
        while true {
            rest = rest.drop { isSpace($0) }
            if rest.starts(with: Array("<?".utf8)) {
                guard let after = after("?>", in: rest) else { return nil }
                rest = after
            } else if rest.starts(with: Array("<!--".utf8)) {
                guard let after = after("-->", in: rest) else { return nil }
                rest = after
            } else {
                return rest
            }
        }
    }

    /// Returns the text after the end of a start tag; nil if the tag is an empty element or is not terminated.
    private static func content(ofTag tag: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var quote: UInt8?
        for (index, byte) in zip(tag.indices, tag) {
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: ">") {
                return index > tag.startIndex && tag[index - 1] == UInt8(ascii: "/") ? nil : tag[(index + 1)...]
            }
        }
        return nil
    }

    private static func after(_ end: StaticString, in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
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
