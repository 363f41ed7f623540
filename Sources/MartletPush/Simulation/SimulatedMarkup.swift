/// A minimal XML reader for simulated devices. It lists the elements of a document, each with its text.
struct SimulatedMarkup {
    struct Element: Equatable {
        /// The name without its prefix.
        let name: String
        /// The part of the start tag after the name, as written.
        let attributes: String
        /// The number of elements that contain this element.
        let depth: Int
        /// The element's own text, without the text of its child elements. References are resolved, and white space is
        /// removed at both ends.
        var text = ""
    }

    private static let sizeLimit = 64 * 1024
    /// The elements in the order of their start tags, beginning with the root.
    private(set) var elements: [Element] = []
    /// The indices in `elements` of the elements that are not closed yet, with their names as written.
    private var open: [(index: Int, name: Substring)] = []

    /// Reads a document.
    ///
    /// Fails if the document is too large or is not UTF-8, if the tags do not match, or if there is no root element or
    /// more than one.
    init?(_ document: [UInt8]) {
        guard document.count <= Self.sizeLimit, let text = String(validating: document, as: UTF8.self) else {
            return nil
        }
        var rest = text[...]
        if rest.first == "\u{FEFF}" { rest = rest.dropFirst() }
        while let next = rest.first {
            if next != "<" {
                let end = rest.firstIndex(of: "<") ?? rest.endIndex
                guard take(text: rest[..<end]) else { return nil }
                rest = rest[end...]
            } else if let after = Self.after("<!--", "-->", in: rest) ?? Self.after("<?", "?>", in: rest) {
                rest = after
            } else {
                guard let end = rest.firstIndex(of: ">"), take(tag: rest[..<end].dropFirst()) else { return nil }
                rest = rest[rest.index(after: end)...]
            }
        }
        guard open.isEmpty, !elements.isEmpty else { return nil }
        for index in elements.indices { elements[index].text = Self.trimmed(elements[index].text) }
    }

    /// Returns the texts of all elements with a name, omitting empty ones.
    func texts(_ name: String) -> [String] {
        elements.filter { $0.name == name && !$0.text.isEmpty }.map(\.text)
    }

    private mutating func take(text: Substring) -> Bool {
        guard let last = open.last else { return text.allSatisfy(\.isWhitespace) }
        elements[last.index].text += Self.resolved(text)
        return true
    }

    /// Reads one tag.
    /// - Parameter tag: The text between the angle brackets.
    /// - Returns: Whether the tag matches the tags before it.
    private mutating func take(tag: Substring) -> Bool {
        if tag.first == "/" {
            let name = tag.dropFirst().prefix { !$0.isWhitespace }
            return open.popLast()?.name == name
        }
        let isEmpty = tag.last == "/"
        let content = isEmpty ? tag.dropLast() : tag
        let name = content.prefix { !$0.isWhitespace }
        guard let local = name.split(separator: ":").last, !name.contains("<"), !open.isEmpty || elements.isEmpty else {
            return false
        }
        elements.append(
            Element(name: String(local), attributes: String(content.dropFirst(name.count)), depth: open.count))
        if !isEmpty { open.append((elements.count - 1, name)) }
        return true
    }

    private static func after(_ start: String, _ end: String, in text: Substring) -> Substring? {
        guard text.hasPrefix(start) else { return nil }
        var rest = text.dropFirst(start.count)
        while !rest.isEmpty {
            if rest.hasPrefix(end) { return rest.dropFirst(end.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Resolves the five predefined references of XML.
    private static func resolved(_ text: Substring) -> String {
        let parts = text.split(separator: "&", omittingEmptySubsequences: false)
        let names = ["amp;": "&", "lt;": "<", "gt;": ">", "quot;": "\"", "apos;": "'"]
        return parts.dropFirst().reduce(String(parts.first ?? "")) { text, part in
            let name = names.keys.first { part.hasPrefix($0) }
            return text + (name.map { (names[$0] ?? "") + part.dropFirst($0.count) } ?? "&\(part)")
        }
    }

    private static func trimmed(_ text: String) -> String {
        let after = text.drop(while: \.isWhitespace)
        return String(after.reversed().drop(while: \.isWhitespace).reversed())
    }
}
