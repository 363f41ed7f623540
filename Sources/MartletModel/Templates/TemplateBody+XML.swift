extension TemplateBody {
    /// Returns the attribute values and element texts that are expressions.
    static func expressions(inXML bytes: [UInt8]) throws(TemplateBodyError) -> [TemplateValue] {
        var scanner = TemplateXMLScanner(bytes)
        try scanner.scan()
        return scanner.values
    }
}

/// A single-pass scanner of XML 1.0. It refuses documents that are not well-formed, except that name prefixes need not
/// be declared. It also refuses document type declarations, and therefore all entities except the five predefined ones.
private struct TemplateXMLScanner {
    private(set) var values: [TemplateValue] = []
    private let bytes: [UInt8]
    private var index = 0
    /// The names of the open elements.
    private var open: [ArraySlice<UInt8>] = []
    /// The texts of the innermost open element; nil as soon as that element has a child element.
    private var leaf: [TemplateValue]?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func scan() throws(TemplateBodyError) {
        try checkCharacters()
        if bytes.starts(with: "<?xml".utf8), bytes.count > 5, bytes[5].isXMLSpace { try declaration() }
        try prolog()
        guard next != nil else { throw error("is not well-formed XML: it has no element") }
        try startTag()
        while !open.isEmpty { try content() }
        try prolog()
        guard next == nil else { throw error("is not well-formed XML: it goes on behind its outermost element") }
    }

    /// Refuses control characters other than white space, and refuses U+FFFE and U+FFFF. Lone surrogates cannot occur
    /// in UTF-8.
    private func checkCharacters() throws(TemplateBodyError) {
        for (offset, byte) in bytes.enumerated() {
            let isControl = byte < 0x20 && !byte.isXMLSpace
            let isNone = byte >= 0xBE && offset >= 2 && bytes[offset - 1] == 0xBF && bytes[offset - 2] == 0xEF
            guard !isControl, !isNone else {
                throw TemplateBodyError(offset: offset, reason: "has a character that XML does not allow")
            }
        }
    }

    /// Skips white space, comments and processing instructions outside the outermost element.
    private mutating func prolog() throws(TemplateBodyError) {
        while true {
            skipSpace()
            if skip("<!--") {
                try comment()
            } else if skip("<?") {
                try instruction()
            } else if isNext("<!DOCTYPE") {
                throw error("has a document type declaration, which is not accepted")
            } else {
                return
            }
        }
    }

    private mutating func content() throws(TemplateBodyError) {
        if skip("</") {
            try endTag()
        } else if skip("<!--") {
            try comment()
        } else if skip("<![CDATA[") {
            try section()
        } else if skip("<?") {
            try instruction()
        } else if next == UInt8(ascii: "<") {
            try startTag()
        } else if next != nil {
            try text()
        } else {
            throw error("is not well-formed XML: the element \(excerpt(open.last ?? [])) is not closed")
        }
    }

    private mutating func startTag() throws(TemplateBodyError) {
        guard skip("<") else { throw error("is not well-formed XML: a < is missing") }
        guard open.count < Template.depthLimit else {
            throw error("has elements that lie deeper in each other than \(Template.depthLimit) levels")
        }
        open.append(try name())
        leaf = []
        try attributes()
        if skip("/>") { return close() }
        guard skip(">") else { throw error("is not well-formed XML: a tag is not closed") }
    }

    private mutating func endTag() throws(TemplateBodyError) {
        let expected = open.last ?? []
        guard try name() == expected else {
            throw error("is not well-formed XML: the end of the element \(excerpt(expected)) is missing")
        }
        skipSpace()
        guard skip(">") else { throw error("is not well-formed XML: a tag is not closed") }
        close()
    }

    /// Closes an element. The element's text can be an expression only if it is a single piece, either text or a CDATA
    /// section. Comments and instructions may surround the piece, and white space may surround a CDATA section.
    private mutating func close() {
        open.removeLast()
        let texts = leaf.take()?.filter { value in
            value.target == .xmlCharacterData || !value.text.allSatisfy(\.isXMLSpace)
        }
        if let texts, texts.count == 1, TemplateExpression.isBegun(by: texts[0].text.first) { values += texts }
    }

    private mutating func attributes() throws(TemplateBodyError) {
        var names: Set<ArraySlice<UInt8>> = []
        while next?.isXMLSpace == true {
            skipSpace()
            guard let byte = next, byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") else { return }
            let start = index
            let (name, value) = try attribute()
            guard names.insert(name).inserted else {
                index = start
                throw error("is not well-formed XML: the attribute \(excerpt(name)) is there twice")
            }
            if TemplateExpression.isBegun(by: value.text.first) { values.append(value) }
        }
    }

    private mutating func attribute() throws(TemplateBodyError) -> (name: ArraySlice<UInt8>, value: TemplateValue) {
        let name = try name()
        skipSpace()
        guard skip("=") else { throw error("is not well-formed XML: an = is missing behind an attribute's name") }
        skipSpace()
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw error("is not well-formed XML: an attribute's value is not in quotes")
        }
        index += 1
        let start = index
        while let byte = next, byte != quote {
            guard byte != UInt8(ascii: "<") else { throw error("is not well-formed XML: a < is in an attribute") }
            index += 1
        }
        guard next == quote else { throw error("is not well-formed XML: an attribute's value does not end") }
        let range = start..<index
        index += 1
        return (name, TemplateValue(range: range, text: try decode(range, .xmlAttribute), target: .xmlAttribute))
    }

    private mutating func text() throws(TemplateBodyError) {
        let start = index
        while next != nil, next != UInt8(ascii: "<") {
            guard !isNext("]]>") else { throw error("is not well-formed XML: ]]> is in a text") }
            index += 1
        }
        let text = try decode(start..<index, .xmlText)
        leaf?.append(TemplateValue(range: start..<index, text: text, target: .xmlText))
    }

    private mutating func section() throws(TemplateBodyError) {
        let start = index
        try skip(to: "]]>", of: "a CDATA section")
        let range = start..<index - 3
        let text = try decode(range, .xmlCharacterData)
        leaf?.append(TemplateValue(range: range, text: text, target: .xmlCharacterData))
    }

    private mutating func comment() throws(TemplateBodyError) {
        try skip(to: "--", of: "a comment")
        guard skip(">") else { throw error("is not well-formed XML: -- is in a comment") }
    }

    private mutating func instruction() throws(TemplateBodyError) {
        let start = index
        let target = try name()
        guard TemplateProperties.folded(target) != "xml" else {
            index = start
            throw error("is not well-formed XML: <?xml is not at its very beginning")
        }
        guard next?.isXMLSpace == true || isNext("?>") else {
            throw error("is not well-formed XML: a processing instruction does not end")
        }
        try skip(to: "?>", of: "a processing instruction")
    }

    private mutating func declaration() throws(TemplateBodyError) {
        index = 5
        var names: [String] = []
        while next?.isXMLSpace == true {
            skipSpace()
            if isNext("?>") { break }
            let (name, value) = try attribute()
            names.append(String(decoding: name, as: UTF8.self))
            guard Self.isDeclared(names[names.count - 1], as: bytes[value.range]) else { throw wrongDeclaration() }
        }
        let known = ["version", "encoding", "standalone"]
        guard names.first == known[0], names == known.filter(names.contains), skip("?>") else {
            throw wrongDeclaration()
        }
    }

    /// Returns true if the value is allowed for the part of the XML declaration with the given name. The encoding is
    /// checked but not used, because the text is always UTF-8.
    private static func isDeclared(_ name: String, as value: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "version":
            value.count > 2 && value.starts(with: "1.".utf8)
                && value.dropFirst(2).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        case "encoding":
            value.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) } == true
                && value.allSatisfy { TemplateProperties.isNameByte($0) || $0 == 0x2D || $0 == 0x2E }
        case "standalone": value.elementsEqual("yes".utf8) || value.elementsEqual("no".utf8)
        default: false
        }
    }

    private func wrongDeclaration() -> TemplateBodyError {
        error("is not well-formed XML: its XML declaration is wrong")
    }

    /// Parses a name of XML 1.0, with at most one prefix.
    private mutating func name() throws(TemplateBodyError) -> ArraySlice<UInt8> {
        let start = index
        while let byte = next, byte >= 0x80 || TemplateProperties.isNameByte(byte) || "-.:".utf8.contains(byte) {
            index += 1
        }
        let name = bytes[start..<index]
        let parts = String(decoding: name, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ $0.unicodeScalars.isXMLName }) else {
            index = start
            throw error("is not well-formed XML: there is no name that XML allows")
        }
        return name
    }

    /// Returns the content of a range as an XML parser would report it: with line ends normalised and references
    /// resolved.
    private func decode(_ range: Range<Int>, _ target: TemplateTarget) throws(TemplateBodyError) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "&") where target != .xmlCharacterData:
                guard let end = bytes[index..<range.upperBound].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                    let replacement = Self.replacement(for: bytes[index..<end])
                else {
                    let reason = "is not well-formed XML: a & is neither &amp; nor another reference that XML knows"
                    throw TemplateBodyError(offset: index - 1, reason: reason)
                }
                text += replacement
                index = end + 1
            case UInt8(ascii: "\r"):
                if index < range.upperBound, bytes[index] == UInt8(ascii: "\n") { index += 1 }
                text.append(target == .xmlAttribute ? 0x20 : 0x0A)
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"): text.append(target == .xmlAttribute ? 0x20 : byte)
            default: text.append(byte)
            }
        }
        return text
    }

    /// Returns the UTF-8 of a character reference or predefined entity; nil for any other name.
    /// - Parameter name: The text between `&` and `;`.
    private static func replacement(for name: ArraySlice<UInt8>) -> [UInt8]? {
        switch String(decoding: name, as: UTF8.self) {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            guard name.first == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = name.dropFirst().first == UInt8(ascii: "x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.first != UInt8(ascii: "+"),
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
                let scalar = Unicode.Scalar(number),
                number >= 0x20 || UInt8(number).isXMLSpace, number != 0xFFFE, number != 0xFFFF
            else { return nil }
            return Array(String(scalar).utf8)
        }
    }

    private func isNext(_ token: StaticString) -> Bool {
        let count = token.utf8CodeUnitCount
        return index + count <= bytes.count
            && bytes[index..<index + count].elementsEqual(UnsafeBufferPointer(start: token.utf8Start, count: count))
    }

    private mutating func skip(_ token: StaticString) -> Bool {
        guard isNext(token) else { return false }
        index += token.utf8CodeUnitCount
        return true
    }

    /// Moves past the next occurrence of a token.
    private mutating func skip(to token: StaticString, of part: String) throws(TemplateBodyError) {
        let start = index
        while !skip(token) {
            guard index < bytes.count else {
                index = start
                throw error("is not well-formed XML: \(part) does not end")
            }
            index += 1
        }
    }

    private mutating func skipSpace() {
        while next?.isXMLSpace == true { index += 1 }
    }

    private func excerpt(_ name: ArraySlice<UInt8>) -> String { String(decoding: name, as: UTF8.self).excerpt }

    private func error(_ reason: String) -> TemplateBodyError {
        TemplateBodyError(offset: index, reason: reason)
    }
}
