import MartletHTTP

/// The characters that are allowed in a header field (RFC 9110, section 5).
enum FieldRules {
    /// Returns true if a byte is allowed in a token (RFC 9110, section 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func isName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(isToken)
    }

    /// Returns true if a byte is allowed in the value of a header field: a tab, or any byte that is not a control
    /// character.
    ///
    /// CR, LF and NUL must be refused because they could end the field early.
    static func isValueByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == 0x09
    }

    static func isValue(_ value: some StringProtocol) -> Bool {
        value.utf8.withContiguousStorageIfAvailable(areValueBytes) ?? value.utf8.allSatisfy(isValueByte)
    }

    /// Returns true if all bytes are allowed in the value of a header field.
    ///
    /// Checks eight bytes at a time, because this function is called for every push.
    static func areValueBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.allSatisfy(unlessEight: { $0.bytes(below: 0x20) | $0.bytes(equalTo: 0x7F) }, or: isValueByte)
    }

    /// Returns true if all bytes are visible ASCII characters. The result for an empty buffer is also true.
    static func areVisible(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.allSatisfy(
            unlessEight: { $0.bytesBeyondASCII | $0.bytes(below: 0x21) | $0.bytes(equalTo: 0x7F) },
            or: { $0 > 0x20 && $0 < 0x7F })
    }

    static func isSound(_ field: HTTPField) -> Bool {
        isName(field.name) && isValue(field.value)
    }

    /// Returns true if the text may be the target or authority of a request: it is not empty and has only visible ASCII
    /// characters (no spaces).
    static func isVisible(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && (text.utf8.withContiguousStorageIfAvailable(areVisible)
                ?? text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
}

extension String {
    /// Returns the value of a field without trailing whitespace, which is not part of the value (RFC 9110, section
    /// 5.5).
    func trimmingTrailingSpace() -> String {
        guard let last = utf8.last, last == 0x20 || last == 0x09 else { return self }
        return utf8.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { String(self[...$0]) } ?? ""
    }
}
