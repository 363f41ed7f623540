/// Writes an XML document on one line, with the elements in the order of the calls. The document is well-formed,
/// whatever text it contains.
///
/// The Java client's parser remains unusable after a single malformed answer, and the .NET client ignores elements that
/// are out of order (NotificationHubs.md, section 16, traps 16 to 18).
struct XMLWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 1024) {
        bytes.reserveCapacity(count)
    }

    /// Writes the XML declaration with the encoding UTF-8. Only some documents may have a declaration
    /// (NotificationHubs.md, section 16, trap 17).
    mutating func declaration() {
        bytes += #"<?xml version="1.0" encoding="utf-8"?>"#.utf8
    }

    /// Writes an element. The closure writes the content of the element.
    /// - Parameter name: A name of the protocol, never untrusted text.
    mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ content: (inout XMLWriter) -> Void
    ) {
        start(name, attributes)
        bytes.append(UInt8(ascii: ">"))
        content(&self)
        bytes += "</".utf8
        bytes += name.utf8
        bytes.append(UInt8(ascii: ">"))
    }

    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) {
        element(name, attributes) { $0.escape(text, inAttribute: false) }
    }

    /// Writes an element with its text in a CDATA section, or in several sections if one section cannot contain the
    /// text.
    mutating func element(_ name: String, characterData text: String) {
        element(name) { element in
            element.bytes += "<![CDATA[".utf8
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: ">") where element.bytes.suffix(2).elementsEqual("]]".utf8):
                    element.bytes += "]]><![CDATA[>".utf8
                // XML parsers convert a bare carriage return to a line feed, so it is written as a character reference.
                case 0x0D: element.bytes += "]]>&#13;<![CDATA[".utf8
                case 0xBE, 0xBF: element.appendLastOfNoncharacter(byte)
                case 0x09, 0x0A, 0x20...: element.bytes.append(byte)
                default: element.bytes += "\u{FFFD}".utf8
                }
            }
            element.bytes += "]]>".utf8
        }
    }

    mutating func emptyElement(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        start(name, attributes)
        bytes += "/>".utf8
    }

    private mutating func start(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        bytes.append(UInt8(ascii: "<"))
        bytes += name.utf8
        for (name, value) in attributes {
            bytes.append(UInt8(ascii: " "))
            bytes += name.utf8
            bytes += "=\"".utf8
            escape(value, inAttribute: true)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    /// Appends a text with escaping. Characters that are not allowed in XML are replaced with U+FFFD.
    private mutating func escape(_ text: String, inAttribute: Bool) {
        if appendPlain(text) { return }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\"") where inAttribute: bytes += "&quot;".utf8
            case 0x0D: bytes += "&#13;".utf8
            case 0x09 where inAttribute: bytes += "&#9;".utf8
            case 0x0A where inAttribute: bytes += "&#10;".utf8
            case 0x00..<0x09, 0x0B, 0x0C, 0x0E..<0x20: bytes += "\u{FFFD}".utf8
            case 0xBE, 0xBF: appendLastOfNoncharacter(byte)
            default: bytes.append(byte)
            }
        }
    }

    /// Appends a text if it needs no escaping, which is true of most texts.
    /// - Returns: False if the text may need escaping; then nothing is written.
    private mutating func appendPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            let isPlain = text.allSatisfy { byte in
                switch byte {
                case 0..<0x20, 0xBE, 0xBF, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""):
                    false
                default: true
                }
            }
            if isPlain { bytes.append(contentsOf: text) }
            return isPlain
        }
    }

    /// Appends a byte that may be the last byte of a noncharacter. U+FFFE and U+FFFF are encoded as `EF BF BE` and `EF
    /// BF BF`; replacing the last byte with `BD` makes them U+FFFD.
    private mutating func appendLastOfNoncharacter(_ byte: UInt8) {
        bytes.append(bytes.suffix(2).elementsEqual([0xEF, 0xBF]) ? 0xBD : byte)
    }
}
