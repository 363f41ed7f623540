/// Repairs the two mistakes that make documents of the Java client not well-formed (NotificationHubs.md, section 4.2):
/// a bare `&` in text, and an end tag of a header collection without a start tag. Everything else is unchanged.
enum XMLRepair {
    /// Repairs a document.
    /// - Returns: nil if there is nothing to repair.
    static func repair(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 64)
        let opened = openedHeaders(in: bytes)
        var rest = bytes[...]
        while let byte = rest.first {
            if let section = unparsedSection(rest) {
                output += rest.prefix(section)
                rest = rest.dropFirst(section)
            } else if byte == UInt8(ascii: "&"), !isReference(rest) {
                output += "&amp;".utf8
                rest.removeFirst()
            } else if byte == UInt8(ascii: "<"), let length = strayEndTag(rest, opened) {
                rest = rest.dropFirst(length)
            } else {
                output.append(byte)
                rest.removeFirst()
            }
        }
        return output == bytes ? nil : output
    }

    /// Returns the length of a CDATA section or comment at the start of the text; nil if there is none.
    private static func unparsedSection(_ text: ArraySlice<UInt8>) -> Int? {
        for (start, end) in [("<![CDATA[", "]]>"), ("<!--", "-->")] where text.starts(with: start.utf8) {
            let close = Array(end.utf8)
            var index = text.startIndex + start.utf8.count
            while index + close.count <= text.endIndex {
                if text[index..<index + close.count].elementsEqual(close) {
                    return index + close.count - text.startIndex
                }
                index += 1
            }
            return text.count
        }
        return nil
    }

    /// Returns whether the `&` at the start of the text begins a reference such as `&name;`, `&#1;` or `&#x1;`.
    private static func isReference(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.dropFirst().prefix(32).prefix { $0 == UInt8(ascii: "#") || isNameByte($0) }
        let end = name.endIndex
        return !name.isEmpty && end < text.endIndex && text[end] == UInt8(ascii: ";")
    }

    /// Returns the length of the end tag `</XHeaders>` at the start of the text; nil if there is none, or if
    /// `<XHeaders` occurs anywhere in the document.
    private static func strayEndTag(_ text: ArraySlice<UInt8>, _ opened: Set<ArraySlice<UInt8>>) -> Int? {
        guard text.starts(with: "</".utf8), let name = headersName(text.dropFirst(2)),
            name.endIndex < text.endIndex, text[name.endIndex] == UInt8(ascii: ">")
        else { return nil }
        return opened.contains(name) ? nil : name.count + 3
    }

    /// Returns the names of all opened header collections (`XHeaders`). They are found in one pass before the repair,
    /// so that the cost does not grow with the number of end tags.
    private static func openedHeaders(in document: [UInt8]) -> Set<ArraySlice<UInt8>> {
        var names: Set<ArraySlice<UInt8>> = []
        for index in document.indices where document[index] == UInt8(ascii: "<") {
            if let name = headersName(document[(index + 1)...]) { names.insert(name) }
        }
        return names
    }

    /// Returns the name of a header collection at the start of the text; nil if there is none.
    private static func headersName(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let name = text.prefix(128).prefix(while: isNameByte)
        return name.suffix(7).elementsEqual("Headers".utf8) ? name : nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
