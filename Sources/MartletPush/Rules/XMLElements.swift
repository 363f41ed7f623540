import MartletModel

/// A list of the elements of an XML document. From this list, the platforms determine the appearance of a message.
///
/// The initializer refuses a document with a document type declaration.
struct XMLElements {
    struct Element {
        /// The name without its prefix.
        let name: String
        /// The values of the attributes by name.
        ///
        /// Names have no prefix, and references in values are resolved.
        let attributes: [String: String]
        /// The index of the element that contains this one; nil for the root.
        let parent: Int?
        /// The element's own text, without the text of its child elements.
        ///
        /// References are resolved.
        fileprivate(set) var text = ""
    }

    private static let (sizeLimit, depthLimit, countLimit) = (65_536, 32, 1000)

    /// The elements in the order of their start tags, beginning with the root.
    private(set) var elements: [Element] = []
    private var open: [Int] = []
    private var openNames: [Substring] = []

    /// Reads a document; nil if it is not well-formed, or if it exceeds the limits of size, depth or number of
    /// elements.
    init?(_ document: [UInt8]) {
        guard document.count <= Self.sizeLimit, let text = String(utf8: document) else { return nil }
        var rest = text[...]
        if rest.first == "\u{FEFF}" { rest = rest.dropFirst() }
        while let next = rest.utf8.first {
            guard take(&rest, isMarkup: next == UInt8(ascii: "<")) else { return nil }
        }
        guard open.isEmpty, !elements.isEmpty else { return nil }
    }

    /// Returns all elements with the given name, whatever their prefix is.
    func named(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    private mutating func take(_ rest: inout Substring, isMarkup: Bool) -> Bool {
        guard isMarkup else {
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
            defer { rest = rest[end...] }
            return take(text: rest[..<end])
        }
        if let content = Self.section("<![CDATA[", "]]>", of: &rest) {
            guard let last = open.last else { return false }
            elements[last].text += content
            return true
        }
        if Self.section("<!--", "-->", of: &rest) != nil || Self.section("<?", "?>", of: &rest) != nil { return true }
        guard let end = Self.endOfTag(rest) else { return false }
        let tag = rest[rest.utf8.index(after: rest.startIndex)..<end]
        rest = rest[rest.utf8.index(after: end)...]
        return tag.utf8.first == UInt8(ascii: "/") ? close(tag.dropFirst()) : begin(tag)
    }

    private mutating func take(text: Substring) -> Bool {
        guard let last = open.last else { return text.utf8.allSatisfy { $0 <= 0x20 } }
        guard let resolved = Self.resolved(text) else { return false }
        elements[last].text += resolved
        return true
    }

    private mutating func close(_ tag: Substring) -> Bool {
        let name = tag.prefix { !$0.isWhitespace }
        guard openNames.popLast() == name else { return false }
        open.removeLast()
        return true
    }

    /// Adds the element that a start tag begins.
    /// - Parameter tag: The text between the angle brackets.
    /// - Returns: Whether the tag is well-formed and within the limits.
    private mutating func begin(_ tag: Substring) -> Bool {
        let isEmpty = tag.utf8.last == UInt8(ascii: "/")
        let content = isEmpty ? tag.dropLast() : tag
        let name = content.prefix { !$0.isWhitespace }
        guard open.count < Self.depthLimit, elements.count < Self.countLimit, !open.isEmpty || elements.isEmpty,
            let local = Self.localName(name), let attributes = Self.attributes(content.dropFirst(name.count))
        else { return false }
        elements.append(Element(name: local, attributes: attributes, parent: open.last))
        guard !isEmpty else { return true }
        open.append(elements.count - 1)
        openNames.append(name)
        return true
    }

    // MARK: Parts of markup

    private static func localName(_ name: Substring) -> String? {
        guard let first = name.utf8.first, first != UInt8(ascii: "!"), !name.utf8.contains(UInt8(ascii: "<")) else {
            return nil
        }
        return name.split(separator: ":").last.map(String.init)
    }

    private static func attributes(_ text: Substring) -> [String: String]? {
        var attributes: [String: String] = [:]
        var rest = text.drop { $0.isWhitespace }
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && !$0.isWhitespace }
            rest = rest.dropFirst(name.count).drop { $0.isWhitespace }
            guard let local = localName(name), rest.first == "=" else { return nil }
            rest = rest.dropFirst().drop { $0.isWhitespace }
            guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: quote), let value = resolved(rest[..<end]) else { return nil }
            attributes[local] = value
            rest = rest[end...].dropFirst().drop { $0.isWhitespace }
        }
        return attributes
    }

    /// Returns the index of the `>` that ends a tag. It is the first `>` outside quotes.
    private static func endOfTag(_ text: Substring) -> Substring.Index? {
        var quote: UInt8?
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: ">") {
                return index
            }
        }
        return nil
    }

    /// Removes a section, such as a comment, from the beginning of the text. The section begins with the mark `start`
    /// and ends with the mark `end`.
    /// - Returns: The content between the marks; nil if the text does not begin with such a section.
    private static func section(_ start: String, _ end: String, of text: inout Substring) -> Substring? {
        guard text.utf8.starts(with: start.utf8) else { return nil }
        let content = text[text.utf8.index(text.startIndex, offsetBy: start.utf8.count)...]
        guard let range = content.utf8.firstRange(of: end.utf8) else { return nil }
        text = content[range.upperBound...]
        return content[..<range.lowerBound]
    }

    private static let references = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// Replaces references such as `&amp;` and `&#10;` by the characters that they stand for; nil if a reference is
    /// unknown.
    private static func resolved(_ text: Substring) -> String? {
        let parts = text.split(separator: "&", omittingEmptySubsequences: false)
        var resolved = String(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: ";"), let character = character(part[..<end]) else { return nil }
            resolved += character + part[end...].dropFirst()
        }
        return resolved
    }

    private static func character(_ name: Substring) -> String? {
        if let known = references[String(name)] { return known }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { String($0) }
    }
}
